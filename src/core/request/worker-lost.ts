import { DomainError } from '../shared/domain-error.js';

/**
 * Why a worker gave a request back without an answer.
 * - `draining`: the worker takes no work now (it shuts down or still loads). It says so itself.
 * - `unsent`: the request never reached a worker.
 * - `refused`: the worker serves, and refused this request.
 * - `disconnected`: the connection broke, or the worker was given up, while it had the request.
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

/** Workers that refuse one request until its caller is told. Each of them is avoided by the next try. */
const MAX_REFUSALS = 5;
/** First try and one more: a request that kills its workers must not kill all of them. */
const MAX_LOSSES = 2;

/**
 * How often a request may be sent again, and where not to. Only a worker that was lost with the request counts against it: one
 * that drains has not touched it, and one that refuses has not computed it.
 */
export class RetryBudget {
  readonly #failedBy = new Set<string>();
  #losses = 0;
  #refusals = 0;

  /** Workers that gave the request back, in order. */
  get failedBy(): readonly string[] {
    return [...this.#failedBy];
  }

  /** Notes a loss. @returns whether the request may be sent again. */
  spend(workerId: string, kind: LossKind): boolean {
    this.#failedBy.add(workerId);
    if (kind === 'disconnected') this.#losses += 1;
    if (kind === 'refused') this.#refusals += 1;
    return this.#losses < MAX_LOSSES && this.#refusals < MAX_REFUSALS;
  }
}

/** True when the worker had the request: it counts as an attempt. */
export const countsAsAttempt = (kind: LossKind): boolean => kind === 'refused' || kind === 'disconnected';
