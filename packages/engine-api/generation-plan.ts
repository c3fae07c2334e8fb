/** What one sequence does in one step: a run of its tokens goes through the model. */
export interface StepItem<T> {
  readonly request: T;
  /**
   * Index of the first token. All before it is computed by then; all from it on is void.
   */
  readonly position: number;
  /** Tokens that are computed. */
  readonly count: number;
  /**
   * The known ones: all `count`, or none in a plan made ahead, whose only token is drawn
   * by the step before it.
   */
  readonly tokens: readonly number[];
  /** The next token is drawn, from the last token's logits. */
  readonly sample: boolean;
  /**
   * Where the sequence is in KV memory (`KvMemory.blocksOf`); what is before `position`
   * may be shared, and is only read.
   */
  readonly blocks: readonly number[];
}

/**
 * One iteration as data: the scheduler decides it, a `StepBackend` runs it,
 * `GenerationScheduler.complete` takes the results.
 */
export interface GenerationPlan<T> {
  /** Counts plans from 1. */
  readonly step: number;
  /**
   * Made while the plan before it ran, on the assumption that it succeeds. If it fails,
   * this one is not run: `skipped`.
   */
  readonly ahead: boolean;
  /** Sequences that ended or were preempted since the last plan. A preempted one returns. */
  readonly leave: readonly T[];
  /** One token each, all in the same native run. */
  readonly decode: readonly StepItem<T>[];
  /** Chunks of prompts (and of answers that are computed again), in that same run. */
  readonly prefill: readonly StepItem<T>[];
}

export type ItemResult =
  /** The tokens of the item are computed; the plan asked for no next token. */
  | { readonly type: 'computed' }
  /** The next token; with `stop` it was the last (a stop string is complete). */
  | { readonly type: 'token'; readonly token: number; readonly stop?: boolean }
  /** The model ended the answer; there is no token to show. */
  | { readonly type: 'stop' }
  /** This item failed; others of the step may have succeeded. */
  | { readonly type: 'failed'; readonly error: Error };

export type StepOutcome<T> =
  /** An item without a result has failed. */
  | { readonly type: 'done'; readonly results: ReadonlyMap<T, ItemResult> }
  /**
   * The native run failed as a whole, for an unknown reason; what it wrote is void,
   * all else stands.
   */
  | { readonly type: 'failed'; readonly error: Error }
  /** It was planned behind a step that failed or was skipped: nothing of it was run. */
  | { readonly type: 'skipped' };

export const itemsOf = <T>(plan: GenerationPlan<T>): readonly StepItem<T>[] => [
  ...plan.decode,
  ...plan.prefill,
];
