/** What one sequence does in one step: a run of its tokens goes through the model. */
export interface StepItem<T> {
  readonly request: T;
  /** Where the first token stands; all before it is computed by then, all at and behind it is void. */
  readonly position: number;
  /** Tokens that go through the model. */
  readonly count: number;
  /** Those that are known: all `count`, or none in a plan made ahead, whose only token is the one that the step before it draws. */
  readonly tokens: readonly number[];
  /** The last token's logits are wanted: the next token is drawn from them. */
  readonly sample: boolean;
  /** KV blocks of the sequence in order; those before `position` may be shared, and are only read. */
  readonly blocks: readonly number[];
}

/** One iteration as data: decide (here) → act (`StepBackend`) → learn (`GenerationScheduler.complete`). */
export interface GenerationPlan<T> {
  /** Counts plans from 1. */
  readonly step: number;
  /** Made while the plan before it ran, on the assumption that it succeeds. If it fails, this one is not run: `skipped`. */
  readonly ahead: boolean;
  /** Ended or preempted since the last plan: what the backend keeps for them goes first. A preempted one comes back. */
  readonly leave: readonly T[];
  /** One token each, all in the same native run. */
  readonly decode: readonly StepItem<T>[];
  /** Chunks of prompts (and of answers that are computed again), in that same run. */
  readonly prefill: readonly StepItem<T>[];
}

export type ItemResult =
  /** Its tokens are computed; nothing was to be drawn. */
  | { readonly type: 'computed' }
  /** The next token; with `stop` it was the last (a stop string is complete). */
  | { readonly type: 'token'; readonly token: number; readonly stop?: boolean }
  /** The model ended the answer; there is no token to show. */
  | { readonly type: 'stop' }
  /** This item alone could not be done. */
  | { readonly type: 'failed'; readonly error: Error };

export type StepOutcome<T> =
  /** An item without a result has failed: nobody is forgotten. */
  | { readonly type: 'done'; readonly results: ReadonlyMap<T, ItemResult> }
  /** The native run as a whole failed, and nobody knows by whose fault; what it wrote is void, all else stands. */
  | { readonly type: 'failed'; readonly error: Error }
  /** Made ahead of one that failed, or was skipped itself: nothing of it was run. */
  | { readonly type: 'skipped' };

export const itemsOf = <T>(plan: GenerationPlan<T>): readonly StepItem<T>[] => [...plan.decode, ...plan.prefill];
