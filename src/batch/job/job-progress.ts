import { type RequestCounts, type BatchUsage } from '../../core/jobs/batch-job.js';
import { type ResultRecord } from './result-segments.js';

/**
 * Durable progress of a job. It is derived from the result log, so the two always agree.
 */
export class JobProgress {
  /** The plan indices with a durable result, one bit each. */
  readonly #bits: Uint8Array;
  #completed = 0;
  #failed = 0;
  #usage: BatchUsage | undefined;

  constructor(readonly total: number) {
    this.#bits = new Uint8Array(Math.ceil(total / 8));
  }

  /** Lines with a durable result. */
  get done(): number {
    return this.#completed + this.#failed;
  }

  get remaining(): number {
    return this.total - this.done;
  }

  get counts(): RequestCounts {
    return { total: this.total, completed: this.#completed, failed: this.#failed };
  }

  /** Sum over all answers with usage; undefined if there is none. */
  get usage(): BatchUsage | undefined {
    return this.#usage;
  }

  has(index: number): boolean {
    return (this.#bits[index >> 3]! & (1 << (index & 7))) !== 0;
  }

  /**
   * Only the first result of a line counts. @throws RangeError for an index outside the
   * batch
   */
  record({ index, kind, usage }: Omit<ResultRecord, 'line'>): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.total)
      throw new RangeError(`The batch has lines 0 to ${this.total - 1}, not ${index}.`);
    if (this.has(index)) return;
    this.#bits[index >> 3]! |= 1 << (index & 7);
    if (kind === 'O') this.#completed += 1;
    else this.#failed += 1;
    if (usage) this.#usage = this.#usage ? sum(this.#usage, usage) : usage;
  }
}

const sum = (a: BatchUsage, b: BatchUsage): BatchUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});
