import { DomainError } from '../shared/domain-error.js';

/**
 * Why a worker returned a request without an answer.
 * - `draining`: the worker reports that it accepts no work now: it shuts down or still loads.
 * - `unsent`: the request never reached a worker.
 * - `refused`: the worker serves, and rejected this request.
 * - `disconnected`: the connection broke, or the worker was abandoned, while it had the request.
 */
export type LossKind = 'draining' | 'unsent' | 'refused' | 'disconnected';

/** Another worker may take the request (D-06). */
export class WorkerLostError extends DomainError {
  constructor(
    readonly kind: LossKind,
    message: string,
    cause?: unknown,
  ) {
    super('worker_lost', message, { cause });
  }
}

/** Rejections by workers before the request fails. The next attempt avoids these workers. */
const MAX_REFUSALS = 5;
/** One retry: a request that crashes workers must not crash all of them. */
const MAX_LOSSES = 2;

/**
 * How often a request may be retried, and which workers to avoid. Only a worker that was lost with the request counts:
 * one that drains has not started it, and one that rejects it has not computed it.
 */
export class RetryBudget {
  readonly #failedBy = new Set<string>();
  #losses = 0;
  #refusals = 0;

  /** Workers that returned the request, in order. */
  get failedBy(): readonly string[] {
    return [...this.#failedBy];
  }

  /** Records a loss. @returns true if the request may be retried */
  spend(workerId: string, kind: LossKind): boolean {
    this.#failedBy.add(workerId);
    if (kind === 'disconnected') this.#losses += 1;
    if (kind === 'refused') this.#refusals += 1;
    return this.#losses < MAX_LOSSES && this.#refusals < MAX_REFUSALS;
  }
}

/** True when the worker had the request: it counts as an attempt. */
export const countsAsAttempt = (kind: LossKind): boolean => kind === 'refused' || kind === 'disconnected';
