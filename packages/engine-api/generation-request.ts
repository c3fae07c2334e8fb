/**
 * One sequence of tokens to be continued; `n` choices are `n` of them. The object itself
 * is the handle.
 */
export interface GenerationRequest {
  /** Priority class, 0 first. */
  readonly priorityClass: number;
  /** Monotonic milliseconds of its first arrival; a re-queue keeps it. */
  readonly arrivalMs: number;
  /** Tenants share the device fairly, by their weights. */
  readonly tenant: string;
  /** 1 or more; absent: 1. The latest that came counts for all of the tenant. */
  readonly tenantWeight?: number;
  /** Model and tenant: computed beginnings are shared under the same salt only. */
  readonly salt: string;
  readonly prompt: readonly number[];
  /**
   * It arrives as aged (D-03), with this share of the turns while class 0 waits too;
   * absent: it ages here, by `classWidthMs`.
   */
  readonly agingShare?: number;
  /** Tokens to generate at most, 1 or more. */
  readonly maxTokens: number;
  /** Monotonic milliseconds at which it ends in any state; absent: never. */
  readonly deadlineMs?: number;
}

/** Why a request can never run here. The same request is refused again: 400, not 503. */
export interface SubmitRefusal {
  readonly reason:
    | 'empty_prompt'
    | 'no_tokens_asked'
    | 'beyond_context'
    | 'beyond_memory'
    | 'already_submitted';
  /** Tokens that prompt and answer come to. */
  readonly tokens: number;
  /** Most tokens allowed. */
  readonly limit: number;
}

/** Why it was withdrawn: a cancel by its id, or a closed connection. */
export type SequenceCancelReason = 'caller' | 'consumer_gone';

/** How a request ended; emitted exactly once (D-04), and nothing afterwards. */
export type GenerationEnd =
  | { readonly type: 'finished'; readonly reason: 'stop' | 'length' }
  | { readonly type: 'cancelled'; readonly reason: SequenceCancelReason }
  | { readonly type: 'deadline' }
  | { readonly type: 'failed'; readonly error: Error };

/**
 * Events. Both are emitted from inside `complete`, `cancel`, `plan` or `lost`, when the
 * state is changed already.
 */
export interface GenerationListener<T> {
  /**
   * A new token of the answer; `index` counts from 0 without gaps,
   * also across preemption.
   */
  readonly emitted: (request: T, token: number, index: number) => void;
  readonly ended: (request: T, end: GenerationEnd) => void;
}
