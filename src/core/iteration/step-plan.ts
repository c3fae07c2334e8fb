/**
 * One iteration as data: the scheduler decides it, a backend runs it, results return through
 * `IterationScheduler.complete`.
 */
export interface StepPlan<T> {
  /** Counts plans from 1. */
  readonly step: number;
  /** Ended since the last plan, by finish, failure or cancel: their state can be freed. */
  readonly leave: readonly T[];
  /** Advance by one token. One native run per group: `position` is equal in a group when the backend needs that. */
  readonly decode: readonly DecodeGroup<T>[];
  /** Join, or start again: encode and prefill them, together. */
  readonly prefill: readonly T[];
}

export interface DecodeGroup<T> {
  /** Tokens that each member has in its cache; of a mixed group the fewest. */
  readonly position: number;
  readonly members: readonly T[];
}

/** The result of one member's step. */
export type StepResult =
  /** It continues with `position` tokens in its cache. */
  | { readonly type: 'continue'; readonly position: number }
  /** Its cache is void: it is prefilled again, in its row (temperature fallback, recompute). */
  | { readonly type: 'restart' }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: Error };

/** How a sequence ended; emitted exactly once (D-04). */
export type SequenceEnd =
  { readonly type: 'finished' } | { readonly type: 'cancelled' } | { readonly type: 'failed'; readonly error: Error };
