import { createRequire } from 'node:module';
import { type DynamicModule, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type DestinationStream, type LoggerOptions } from 'pino';
import type pinoPretty from 'pino-pretty';
import { redacted } from '../config/redaction.js';
import { type Settings } from '../config/settings.js';
import { standardOutput } from './log-output.js';
import { LogRing } from './log-ring.js';
import { requestFields } from './request-lines.js';

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
  if (level === INFO && typeof context === 'string' && FRAMEWORK.has(context)) this.debug(...args);
  else method.apply(this, args);
};

/** Of this process, in the `LogRing` that Nest injects. */
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
      providers: [{ provide: LogRing, useValue: ring }],
      exports: [LogRing],
    };
  }
}
