import { type Logger, pino, type DestinationStream } from 'pino';
import { redacted } from '../../platform/config/redaction.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { standardOutput } from '../../platform/logging/log-output.js';

/** Injection token of the process's `Logger`, for code without Nest. */
export const WORKER_LOG = Symbol('WORKER_LOG');

/**
 * JSON lines on stdout, which the supervisor forwards to the gateway's log. Written
 * asynchronously: a pipe that is not read may lose lines, but never blocks the worker.
 */
export function workerLog(
  {
    workerId,
    model,
    logLevel,
  }: Pick<WorkerSpec, 'workerId' | 'logLevel'> & {
    readonly model: { readonly id: string };
  },
  destination: DestinationStream = standardOutput(),
): Logger {
  const base = { pid: process.pid, worker: workerId, model: model.id };
  return pino({ level: logLevel, base, hooks: { streamWrite: redacted } }, destination);
}

/**
 * Nest's logger on pino, without the HTTP parts of nestjs-pino. Nest passes the context
 * last; before it the stack of an error, or the message that belongs to fields.
 */
export function nestLog(logger: Logger) {
  const writer =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]): void => {
      const context = typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined;
      const before = rest.length > 1 ? rest[0] : undefined;
      if (message instanceof Error) logger[level]({ context, err: message }, message.message);
      else if (isFields(message)) logger[level]({ context, ...message }, messageOf(before));
      else logger[level]({ context, stack: before }, String(message));
    };
  return {
    log: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    debug: writer('debug'),
    verbose: writer('trace'),
    fatal: writer('fatal'),
  };
}

const messageOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null;
