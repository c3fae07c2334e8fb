import { type RequestCounts, type BatchUsage } from '../../core/jobs/batch-job.js';
import { type ResultKind } from './result-segments.js';

/** The plan indices with a durable result, one bit each. */
export class DoneMap {
  readonly #bits: Uint8Array;
  #count = 0;

  constructor(readonly size: number) {
    this.#bits = new Uint8Array(Math.ceil(size / 8));
  }

  get count(): number {
    return this.#count;
  }

  has(index: number): boolean {
    return (this.#bits[index >> 3]! & (1 << (index & 7))) !== 0;
  }

  /**
   * @returns false if it was set before. @throws RangeError for an index
   *   outside the batch
   */
  add(index: number): boolean {
    if (!Number.isInteger(index) || index < 0 || index >= this.size)
      throw new RangeError(`The batch has lines 0 to ${this.size - 1}, not ${index}.`);
    if (this.has(index)) return false;
    this.#bits[index >> 3]! |= 1 << (index & 7);
    this.#count += 1;
    return true;
  }
}

const NO_USAGE: BatchUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
};

/**
 * Durable progress of a job. It is derived from the result log, so the two always agree.
 */
export class JobProgress {
  readonly done: DoneMap;
  #completed = 0;
  #failed = 0;
  #usage: BatchUsage | undefined;

  constructor(total: number) {
    this.done = new DoneMap(total);
  }

  get counts(): RequestCounts {
    return { total: this.done.size, completed: this.#completed, failed: this.#failed };
  }

  get remaining(): number {
    return this.done.size - this.done.count;
  }

  /** Sum over all answers with usage; undefined if there is none. */
  get usage(): BatchUsage | undefined {
    return this.#usage;
  }

  /** @returns false if the line has a result already */
  record({
    index,
    kind,
    usage,
  }: {
    index: number;
    kind: ResultKind;
    usage?: BatchUsage;
  }): boolean {
    if (!this.done.add(index)) return false;
    if (kind === 'O') this.#completed += 1;
    else this.#failed += 1;
    if (usage) this.#usage = sum(this.#usage ?? NO_USAGE, usage);
    return true;
  }
}

const sum = (a: BatchUsage, b: BatchUsage): BatchUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});
