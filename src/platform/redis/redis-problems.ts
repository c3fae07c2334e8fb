import { DomainError } from '../../core/errors/domain-error.js';
import { queueUnavailable } from '../http/passing-errors.js';

/**
 * Replies of a Redis that does not do its work now: no room, loading, a replica, a script or
 * another client in its way, a login that it refuses. Others are mistakes of ours.
 */
const AWAY =
  /^(OOM|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|BUSY|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM)\b/;

/** The command was refused for want of memory (`maxmemory`), not lost. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error && (error.message.includes('OOM') || isFull(error.cause));

export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.message === 'Command timed out' || isTimeout(error.cause));

/** What a failed command means to a request: 503, to be tried again. */
export function redisUnavailable(cause: unknown): DomainError {
  if (cause instanceof DomainError) return cause;
  const state = isFull(cause) ? 'is full' : 'cannot be reached';
  return queueUnavailable(`The queue in Redis ${state}; nothing was queued.`, cause);
}

/**
 * The one place where a Redis that is away, hung, full or read-only becomes a `DomainError`
 * (D-52). A wrong command passes as it is.
 */
export function redisProblem(error: unknown): unknown {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return isReply && !AWAY.test(error.message) ? error : redisUnavailable(error);
}
