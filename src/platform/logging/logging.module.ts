import type pinoPretty from 'pino-pretty';
import { createRequire } from 'node:module';
import { type DynamicModule, Module, Logger } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type DestinationStream, type LoggerOptions } from 'pino';
import { redacted } from '../config/redaction.js';
import { type Settings } from '../config/settings.js';
import { standardOutput } from './log-output.js';
import { LogRing } from './log-ring.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type FastifyInstance } from 'fastify';

/**
 * Probes and scrapes come every few seconds and say nothing: kept off the log and
 * out of traces.
 */
export const QUIET_URL = /^\/(healthz?|readyz|metrics)(\/|\?|$)/;

const requests = new AsyncLocalStorage<string>();

/** The id of the HTTP request that the running code serves; nothing outside of one. */
function requestFields(): object {
  const requestId = requests.getStore();
  return requestId === undefined ? {} : { requestId };
}

/**
 * One line per request when its connection is done with it, and `requestFields()`
 * inside it. A Fastify hook, because Nest's middleware on Fastify costs several times as
 * much. Comes before all other hooks, so that what those refuse is logged as well.
 */
export function logRequests(fastify: FastifyInstance): void {
  const logger = new Logger('Http');
  fastify.addHook('onRequest', (request, reply, done) => {
    // `onResponse` would never hear of a client that left.
    if (!QUIET_URL.test(request.url))
      reply.raw.once('close', () => {
        const { statusCode: status, writableEnded } = reply.raw;
        const line = {
          requestId: request.id,
          req: { method: request.method, path: request.url.split('?', 1)[0] },
          res: { status },
          responseTime: Math.round(reply.elapsedTime),
        };
        const outcome = writableEnded ? 'answered' : 'client gone';
        // A caller's mistake concerns the caller; only our own failures are errors here.
        logger[status === 500 ? 'error' : 'log'](
          line,
          status >= 500 ? 'failed to answer' : outcome,
        );
      });
    requests.run(request.id, done);
  });
}

interface LogOptions {
  readonly level: Settings['logging']['level'];
  readonly pretty: Settings['logging']['pretty'];
  /** Fields on every line of this process, such as `{ workerId, model }`. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Where lines go instead of standard output. */
  readonly destination?: DestinationStream;
}

/**
 * pino's options. Log lines hold ids, names, sizes and times: never headers (keys), query
 * strings, bodies, audio or text of requests. The request id joins a line when it is
 * written, so a request that says nothing costs nothing.
 */
function pinoOptions({ level, bindings = {} }: LogOptions): LoggerOptions {
  return {
    level,
    base: { pid: process.pid, ...bindings },
    redact: {
      paths: ['req.headers', 'res.headers', '*.authorization', '*.apiKey'],
      remove: true,
    },
    mixin: requestFields,
    hooks: { logMethod: quietFramework, streamWrite: redacted },
  };
}

/** Where lines go: JSON, or text for people, on standard output. */
function logDestination({ pretty, destination }: LogOptions): DestinationStream {
  const output = destination ?? standardOutput();
  if (destination !== undefined || !isPretty(pretty)) return output;
  // Lines for people are the exception: other processes do without the formatter.
  const { isColorSupported, prettyFactory } = createRequire(import.meta.url)(
    'pino-pretty',
  ) as typeof pinoPretty;
  const format = prettyFactory({
    singleLine: true,
    ignore: 'pid,hostname',
    colorize: isColorSupported,
  });
  return { write: line => output.write(format(line)) };
}

/** Nest logs each module and route that it sets up: of use to developers only. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestMicroservice',
]);
const INFO = 30;

const quietFramework: NonNullable<LoggerOptions['hooks']>['logMethod'] = function (
  args,
  method,
  level,
) {
  const context = (args[0] as { context?: unknown } | undefined)?.context;
  if (level === INFO && typeof context === 'string' && FRAMEWORK.has(context))
    this.debug(...args);
  else method.apply(this, args);
};

/** Injection token of the `LogRing` with the last lines of this process. */
export const GATEWAY_LOG = Symbol('GATEWAY_LOG');
const KEPT_LINES = 2000;

const isPretty = (pretty: LogOptions['pretty']) =>
  pretty === 'true' || (pretty === 'auto' && process.stdout.isTTY);

/**
 * Structured logs (pino). Classes log through Nest's `new Logger(ClassName.name)`;
 * `app.useLogger(app.get(Logger))` with `Logger` of nestjs-pino routes them here, and
 * after `logRequests(fastify)` every line of a request carries its `requestId`.
 */
@Module({})
export class LoggingModule {
  static forRoot(options: LogOptions): DynamicModule {
    const pino = { ...pinoOptions(options), wrapSerializers: false };
    const [output, ring] = [logDestination(options), new LogRing(KEPT_LINES)];
    const destination: DestinationStream = {
      write: line => {
        ring.add(line);
        output.write(line);
      },
    };
    const pinoHttp: [typeof pino, DestinationStream] = [pino, destination];
    return {
      module: LoggingModule,
      global: true,
      // Without routes, nestjs-pino gives its logger alone: no middleware, no child
      // logger per request.
      imports: [LoggerModule.forRoot({ pinoHttp, forRoutes: [] })],
      providers: [{ provide: GATEWAY_LOG, useValue: ring }],
      exports: [GATEWAY_LOG],
    };
  }
}
