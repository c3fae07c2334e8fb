/** What a sequence asks for when it joins. */
export interface MemoryRequest {
  /** Computed beginnings are shared only between sequences with the same salt. */
  readonly salt: string;
  /**
   * Prompt and answer so far. The memory keeps this array: the sequence appends to it and
   * changes nothing before its end.
   */
  readonly tokens: readonly number[];
  /** Tokens of prompt and answer for which room is reserved. */
  readonly capacity: number;
}

/**
 * KV memory, owned by whoever holds the computed tokens: what it says is there is there.
 * The scheduler decides with it, the backend executes on it, and neither keeps a second
 * account. Sizes are in blocks of `blockTokens`. `SlotMemory` of the llama.cpp engine
 * gives each sequence a slot of its own; the simulator of the tests
 * (`test/support/paged-memory.ts`) shares blocks by reference.
 */
export interface KvMemory<K> {
  readonly blocks: number;
  readonly blockTokens: number;
  /** Blocks that an allocation could take now. */
  readonly available: number;
  /** Most tokens that one sequence can have while the memory holds no other. */
  readonly capacity: number;
  blocksFor(tokens: number): number;
  /** The blocks of the sequence's tokens, in order, as the backend addresses them. */
  blocksOf(key: K): readonly number[];
  /**
   * Blocks that become available when this sequence, alone or with others, is released.
   */
  heldAlone(key: K): number;
  /**
   * All or nothing. At least one token is always left to compute: its logits
   * start the answer.
   * @returns how many of the first tokens are computed already; undefined, and nothing
   *   changed, if there is not enough
   * room
   */
  allocate(key: K, request: MemoryRequest): number | undefined;
  /**
   * Makes room for `tokens` in all; false, and nothing changed, if there is not enough.
   */
  grow(key: K, tokens: number): boolean;
  /**
   * The first `count` tokens of this sequence are computed.
   * @returns true when other sequences can find more than before
   */
  computed(key: K, count: number): boolean;
  /**
   * Tokens of this sequence that are computed and still there; fewer than reported after
   * a failed copy or a new process.
   */
  intact(key: K): number;
  /**
   * Frees its room; what is computed can be found until that room is needed. Idempotent.
   */
  release(key: K): void;
  /** The memory itself is gone: nothing computed before can be found any more. */
  forgetContents(): void;
  /** Checks that every block is counted once; for tests. @throws Error when it is not */
  audit(): void;
}

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
  /** Model and tenant: computed beginnings are shared only under the same salt. */
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
  /** Tokens of prompt and answer together. */
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
