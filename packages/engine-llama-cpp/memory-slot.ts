import { type MemoryRequest } from '@switchyard/engine-api/generation-request.js';

/** One slot of native memory: which sequence has it, and what is known of its cells. */
export class MemorySlot {
  holder: object | undefined;
  salt = '';
  /**
   * The tokens of the sequence that holds it, or held it last: the sequence's own array,
   * never a copy.
   */
  tokens: readonly number[] = [];
  /**
   * The first of them that are computed, or will be by operations that are sent before
   * the next run.
   */
  computed = 0;
  /** Cells that the native memory may have in use. */
  written = 0;
  /** It may hold more than `written`: a step failed, or nothing is known of it yet. */
  isDirty = true;
  /** Tokens that are reserved for the sequence that holds the slot; 0: no sequence does. */
  reserved = 0;
  /** Counts allocations and writes; the smallest was unused for the longest. */
  usedAt = 0;
  /** Whether the sampler of its sequence is still to be set up. */
  #isNew = true;

  constructor(readonly index: number) {}

  hold(holder: object, { salt, tokens, capacity }: MemoryRequest, usedAt: number): void {
    this.holder = holder;
    this.salt = salt;
    this.tokens = tokens;
    this.reserved = capacity;
    this.usedAt = usedAt;
    this.#isNew = true;
  }

  reserve(tokens: number): void {
    this.reserved = tokens;
  }

  release(): void {
    this.holder = undefined;
    this.reserved = 0;
  }

  /** Notes how many of its tokens are computed. */
  count(computed: number): void {
    this.computed = computed;
  }

  /** Frees the cells from `end` on. */
  keep(end: number): void {
    this.written = end;
    this.isDirty = false;
  }

  /** Notes that the cells before `end` are in use. */
  write(end: number, usedAt: number): void {
    this.written = end;
    this.usedAt = usedAt;
  }

  /** A run failed that would have written into this slot. */
  spoil(): void {
    this.isDirty = true;
    this.#isNew = true;
  }

  /** Forgets what was in it, since its process ended. */
  forget(): void {
    this.computed = 0;
    this.written = 0;
    this.spoil();
  }

  /** True once after `hold` and `spoil`: a sampler has to be set up. */
  begins(): boolean {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }
}
