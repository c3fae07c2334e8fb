import { type Arrival } from './aging-key.js';

/** One sequence of tokens to be continued; `n` choices are `n` of them. The caller's own object: it is the handle. */
export interface GenerationRequest extends Arrival {
  /** Who shares the device fairly. */
  readonly tenant: string;
  /** Model and tenant: computed beginnings are shared under the same salt only. */
  readonly salt: string;
  readonly prompt: readonly number[];
  /** It comes as aged (D-03): its share of the turns while class 0 waits as well; absent: it ages here, by `classWidthMs`. */
  readonly agingShare?: number;
  /** Tokens to generate at most, 1 or more. */
  readonly maxTokens: number;
  /** Monotonic milliseconds at which it ends, whatever state it is in; absent: never. */
  readonly deadlineMs?: number;
}

/** Why a request can never run here. The same request is refused again: 400, not 503. */
export interface Refusal {
  readonly reason: 'empty_prompt' | 'no_tokens_asked' | 'beyond_context' | 'beyond_memory' | 'already_submitted';
  /** Tokens that prompt and answer come to. */
  readonly tokens: number;
  /** Tokens that could be had. */
  readonly limit: number;
}

/** Who withdrew it: a cancel by its id, or a connection that went away. */
export type CancelReason = 'caller' | 'consumer_gone';

/** How a request ended; told exactly once (D-04), and nothing is emitted afterwards. */
export type GenerationEnd =
  | { readonly type: 'finished'; readonly reason: 'stop' | 'length' }
  | { readonly type: 'cancelled'; readonly reason: CancelReason }
  | { readonly type: 'deadline' }
  | { readonly type: 'failed'; readonly error: Error };

/** What whoever submits is told. Both come from inside `complete`, `cancel`, `plan` or `lost`, when the state is changed already. */
export interface GenerationListener<T> {
  /** A new token of the answer; `index` counts from 0 without gaps, also across preemption. */
  readonly emitted: (request: T, token: number, index: number) => void;
  readonly ended: (request: T, end: GenerationEnd) => void;
}
