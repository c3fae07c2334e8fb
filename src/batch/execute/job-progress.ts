import { type RequestCounts, type TokenUsage } from '../../core/jobs/batch-job.js';
import { DoneMap } from './done-map.js';
import { type ResultKind } from './result-record.js';

const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

/** What of a job is durably done: derived from the result log, so that it can never disagree with it. */
export class JobProgress {
  readonly done: DoneMap;
  #completed = 0;
  #failed = 0;
  #usage: TokenUsage | undefined;

  constructor(total: number) {
    this.done = new DoneMap(total);
  }

  get counts(): RequestCounts {
    return { total: this.done.size, completed: this.#completed, failed: this.#failed };
  }

  get remaining(): number {
    return this.done.size - this.done.count;
  }

  /** Sum over all answers that told it; undefined when none did. */
  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  /** @returns false when this line has a result already. */
  record({ index, kind, usage }: { index: number; kind: ResultKind; usage?: TokenUsage }): boolean {
    if (!this.done.add(index)) return false;
    if (kind === 'O') this.#completed += 1;
    else this.#failed += 1;
    if (usage) this.#usage = sum(this.#usage ?? NO_USAGE, usage);
    return true;
  }
}

const sum = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});
