import { type StepItem } from '@switchyard/engine-api/generation-plan.js';
import {
  type GenerationRequest,
  type KvMemory,
} from '@switchyard/engine-api/generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type RunningSet } from './running-set.js';
import { type TokenBudget } from './token-budget.js';

export interface StepItems<T> {
  readonly decode: readonly StepItem<T>[];
  readonly prefill: readonly StepItem<T>[];
}

interface Parts<T extends GenerationRequest> {
  readonly running: RunningSet<T>;
  readonly memory: KvMemory<GenerationSequence<T>>;
  readonly budget: TokenBudget;
}

/**
 * Fills a step within its token budget: decoding sequences first, then chunks of
 * prompts, oldest first.
 */
export class StepComposer<T extends GenerationRequest> {
  constructor(private readonly parts: Parts<T>) {}

  /**
   * The usual step. Nothing is admitted after a preemption: it would take the memory that
   * was just freed.
   */
  compose(nowMs: number, admits = true): StepItems<T> {
    const { running } = this.parts;
    const preempted = running.grow();
    if (admits && !preempted) running.displace(nowMs);
    return this.#fill(nowMs, admits && !preempted);
  }

  /**
   * While a step runs, assuming that it succeeds. Undefined if a sequence would have to
   * leave: it may be in that step.
   */
  composeAhead(nowMs: number): StepItems<T> | undefined {
    return this.parts.running.growFreely(nowMs) ? this.#fill(nowMs, true) : undefined;
  }

  #fill(nowMs: number, admits: boolean): StepItems<T> {
    const { running, budget } = this.parts;
    const rows = running.rows.filter(row => row.isDue);
    const decode = rows.filter(row => row.decoding).map(row => this.#item(row, 1));
    const prefill: StepItem<T>[] = [];
    let left = budget.allowance(decode.length) - decode.length;
    const fill = (row: GenerationSequence<T>): void => {
      const count = Math.min(left, row.pending);
      if (count > 0) prefill.push(this.#item(row, count));
      left -= count;
    };
    rows.filter(row => !row.decoding).forEach(fill);
    if (admits) running.admit(nowMs, left).forEach(fill);
    return { decode, prefill };
  }

  /**
   * A step for the first of `suspects` that finds room. If none does, others continue but
   * none joins, until one does.
   */
  quarantine(suspects: readonly GenerationSequence<T>[], nowMs: number): StepItems<T> {
    const { running, budget } = this.parts;
    running.grow();
    const alone = suspects.find(
      suspect =>
        running.has(suspect) ||
        running.enter(suspect, nowMs) ||
        running.force(suspect, nowMs),
    );
    if (alone === undefined) return this.compose(nowMs, false);
    return {
      decode: [],
      prefill: [this.#item(alone, Math.min(alone.pending, budget.allowance(0)))],
    };
  }

  #item(row: GenerationSequence<T>, count: number): StepItem<T> {
    return row.item(count, this.parts.memory.blocksOf(row));
  }
}
