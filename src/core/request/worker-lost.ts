import { DomainError } from '../errors/domain-error.js';

/**
 * Why a worker returned a request without an answer.
 * - `draining`: the worker reports that it accepts no work now: it shuts down
 *   or still loads.
 * - `unsent`: the request never reached a worker.
 * - `refused`: the worker serves, and rejected this request.
 * - `disconnected`: the connection broke while it had the request.
 * - `abandoned`: this side ended the call: the worker hangs, or did not end
 *   a cancelled call.
 * - `died`: the process or thread that computed it ended, as seen by
 *   whoever supervises it.
 */
type LossKind = 'draining' | 'unsent' | 'refused' | 'disconnected' | 'abandoned' | 'died';

/** Another worker may take the request (D-06). */
export class WorkerLostError extends DomainError {
  constructor(
    readonly kind: LossKind,
    message: string,
    cause?: unknown,
    /** Requests that were lost at the same time, this one included. */
    readonly together = 1,
  ) {
    super('worker_lost', message, { cause });
  }
}

/** True when the worker had the request: it counts as an attempt. */
export const countsAsAttempt = (kind: LossKind): boolean =>
  kind !== 'draining' && kind !== 'unsent';
