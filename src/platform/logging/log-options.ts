import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type DestinationStream } from 'pino';
import { type Options } from 'pino-http';
import { type Settings } from '../config/settings.js';

export interface LogOptions {
  readonly level: Settings['logging']['level'];
  readonly pretty: Settings['logging']['pretty'];
  /** Fields on every line of this process, such as `{ workerId, model }`. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Where lines go instead of standard output. */
  readonly destination?: DestinationStream;
}

/** Probes and scrapes come every few seconds and say nothing: kept off the log. */
const QUIET = /^\/(health|metrics)(\/|\?|$)/;

/**
 * What pino-http is told. Log lines hold ids, names, sizes and times: never headers (keys), query strings, bodies,
 * audio or text of requests.
 */
export function pinoHttpOptions({ level, pretty, bindings = {} }: LogOptions): Options {
  return {
    level,
    base: { pid: process.pid, ...bindings },
    ...(isPretty(pretty) && {
      transport: { target: 'pino-pretty', options: { singleLine: true, ignore: 'pid,hostname' } },
    }),
    redact: { paths: ['req.headers', 'res.headers', '*.authorization', '*.apiKey'], remove: true },
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'requestId' },
    autoLogging: { ignore: request => QUIET.test(pathOf(request)) },
    customLogLevel: severity,
    customSuccessMessage: (_request, response) => (response.writableEnded ? 'answered' : 'client gone'),
    customErrorMessage: () => 'failed to answer',
    hooks: { logMethod: quietFramework },
    serializers: { req: describeRequest, res: describeResponse },
  };
}

/** Nest tells each module and route it sets up: news for its developers only. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestMicroservice',
]);
const INFO = 30;

const quietFramework: NonNullable<Options['hooks']>['logMethod'] = function (args, method, level) {
  const context = (args[0] as { context?: unknown } | undefined)?.context;
  if (level === INFO && typeof context === 'string' && FRAMEWORK.has(context)) this.debug(...args);
  else method.apply(this, args);
};

const isPretty = (pretty: LogOptions['pretty']): boolean =>
  pretty === 'true' || (pretty === 'auto' && process.stdout.isTTY);

/** A caller's mistake is news for the caller; only our own failures are errors here. */
function severity(_request: IncomingMessage, response: ServerResponse, error?: Error): 'error' | 'info' {
  return error !== undefined || response.statusCode === 500 ? 'error' : 'info';
}

// Nest's Fastify middleware shortens `url` to '/' and keeps the whole in `originalUrl`.
const pathOf = (request: IncomingMessage & { originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? '';

const describeRequest = (request: { method: string; url: string }) => ({
  method: request.method,
  path: request.url.split('?', 1)[0],
});

const describeResponse = (response: { statusCode: number }) => ({ status: response.statusCode });
