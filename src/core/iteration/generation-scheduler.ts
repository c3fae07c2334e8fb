import {
  type GenerationPlan,
  type StepItem,
  type StepOutcome,
} from '@switchyard/engine-api/generation-plan.js';
import {
  type SequenceCancelReason,
  type GenerationEnd,
  type GenerationRequest,
  type SubmitRefusal,
} from '@switchyard/engine-api/generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { GenerationSteps, type InFlightStep, type StepItems } from './generation-steps.js';
import { type GenerationOptions } from './running-set.js';
import { SequenceRoster } from './sequence-roster.js';
import { TokenBudget } from './token-budget.js';

/**
 * Continuous batching (D-21) as pure decisions: `plan` decides, a `StepBackend` acts,
 * `complete` takes the results. Requests join and leave between steps. One step runs;
 * another may be planned behind it (`planAhead`).
 *
 *   submit → waiting → (row, memory, tokens) prefill in chunks → decode … → stop | length
 *              ▲ ╰─ preempted: memory taken, age kept ─╯              │
 *              ╰──────────────── cancel, deadline, failure ───────────╯ at once, or with the step that runs
 */
export class GenerationScheduler<T extends GenerationRequest> {
  readonly #roster: SequenceRoster<T>;
  readonly #budget: TokenBudget;
  readonly #steps: GenerationSteps<T>;
  /** Something changed since the last `plan`. */
  #changed = false;

  /** @throws RangeError when a step might not have a token for each row. */
  constructor(private readonly options: GenerationOptions<T>) {
    if (options.budget.minTokens < options.maxRows)
      throw new RangeError(
        `${options.budget.minTokens} tokens per step are too few for ${options.maxRows} rows.`,
      );
    this.#roster = new SequenceRoster(options);
    this.#budget = new TokenBudget(options.budget);
    this.#steps = new GenerationSteps(this.#roster);
  }

  get waiting(): number {
    return this.#roster.queue.size;
  }

  get running(): number {
    return this.#roster.running.size;
  }

  /** Whether steps are in flight of which no sequence needs the result. */
  get computesForNobody(): boolean {
    return this.#steps.isUnwanted;
  }

  /** The step that runs. */
  get runningStep(): InFlightStep<T> | undefined {
    return this.#steps.running;
  }

  /**
   * Tokens found computed and computed again all the same, since the start: their copy
   * failed, or the process was replaced.
   */
  get strandedTokens(): number {
    return this.#roster.running.strandedTokens;
  }

  /** Tokens per step while a sequence decodes. */
  get stepTokens(): number {
    return this.#budget.tokens;
  }

  /**
   * Joins at a step boundary. Returns a refusal when it can never run; nothing is emitted
   * for it then.
   */
  submit(request: T): SubmitRefusal | undefined {
    const refusal = this.#roster.refusal(request);
    if (refusal) return refusal;
    this.#roster.add(request);
    this.#changed = true;
    return undefined;
  }

  /** At once, or with the step that runs now. False when it is unknown or has ended. */
  cancel(request: T, reason: SequenceCancelReason = 'caller'): boolean {
    const sequence = this.#roster.of(request);
    if (sequence === undefined || sequence.ending) return false;
    this.#changed = true;
    this.#leave(sequence, { type: 'cancelled', reason });
    return true;
  }

  /**
   * Its consumer is full: no more steps for it, though the one that runs may still draw a
   * token. Others continue.
   */
  pause(request: T, nowMs: number): void {
    this.#roster.of(request)?.pause(nowMs);
  }

  resume(request: T): void {
    this.#roster.of(request)?.resume();
    this.#changed = true;
  }

  /** The next step; undefined when there is nothing to run and nothing to free. */
  plan(nowMs: number): GenerationPlan<T> | undefined {
    if (this.#steps.inFlight > 0) throw new Error('A step is in flight.');
    this.#changed = false;
    this.#roster.running.reconcile();
    this.#expire(nowMs);
    const { suspects } = this.#roster;
    const items =
      this.#steps.retry() ??
      (suspects.length > 0 ? this.#quarantine(suspects, nowMs) : this.#compose(nowMs));
    return this.#start(items, nowMs);
  }

  /**
   * The step behind the one that runs, so that the backend has it when that one is done.
   * A decoding sequence continues with the token that is being drawn; one that ends with
   * that token runs once for nothing. Undefined where the outcome decides. Call it late
   * in a step: requests that come afterwards are not in the next one.
   */
  planAhead(nowMs: number): GenerationPlan<T> | undefined {
    if (this.#steps.inFlight !== 1 || this.#steps.running?.isVoid) return undefined;
    if (this.#steps.hasRetries || this.#roster.suspects.length > 0) return undefined;
    this.#expire(nowMs);
    // A sequence that would have to leave may be in the step that runs.
    if (!this.#roster.running.growFreely(nowMs)) return undefined;
    const items = this.#fill(nowMs, true);
    if (items.decode.length + items.prefill.length === 0) return undefined;
    return this.#start(items, nowMs);
  }

  /** The outcome of the oldest step in flight. */
  complete(outcome: StepOutcome<T>, nowMs: number): void {
    const { plan, members, sinceMs } = this.#steps.complete(outcome, nowMs);
    this.#changed = true;
    if (outcome.type !== 'done') return;
    const tokens = members.reduce((sum, { item }) => sum + item.count, 0);
    this.#budget.observe({ decoding: plan.decode.length, tokens, ms: nowMs - sinceMs });
  }

  /**
   * The backend is gone with all it kept, in a step or between two. Everything is
   * computed again. Members of the lost step run alone until they are past where it died,
   * so that a request that kills a backend fails alone.
   */
  lost(error: Error): void {
    this.#changed = true;
    this.#steps.lost(error);
  }

  /**
   * Monotonic milliseconds at which to call `plan` again, unless something is submitted,
   * resumed or completed before.
   */
  nextWakeMs(nowMs: number): number {
    if (this.#steps.inFlight === 0 && this.#isRunnable()) return nowMs;
    const { idleWaitMs, loadWaitMs } = this.options;
    const ceilingMs = nowMs + (this.#roster.size > 0 ? loadWaitMs : idleWaitMs);
    return Math.max(nowMs, Math.min(ceilingMs, this.#roster.firstDeadlineMs));
  }

  /**
   * @throws Error when blocks or requests are lost or counted twice; for tests,
   *   after every step.
   */
  audit(): void {
    this.#roster.audit();
  }

  /**
   * The usual step. Nothing is admitted after a preemption: it would take the memory that
   * was just freed.
   */
  #compose(nowMs: number, mayAdmit = true): StepItems<T> {
    const { running } = this.#roster;
    const admits = !running.grow() && mayAdmit;
    if (admits) running.displace(nowMs);
    return this.#fill(nowMs, admits);
  }

  /** Decoding sequences first, then chunks of prompts, oldest first, within the budget. */
  #fill(nowMs: number, admits: boolean): StepItems<T> {
    const { running } = this.#roster;
    const rows = running.rows.filter(row => row.isDue);
    const decode = rows.filter(row => row.decoding).map(row => this.#item(row, 1));
    const prefill: StepItem<T>[] = [];
    let left = this.#budget.allowance(decode.length) - decode.length;
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
  #quarantine(suspects: readonly GenerationSequence<T>[], nowMs: number): StepItems<T> {
    const { running } = this.#roster;
    running.grow();
    const alone = suspects.find(
      suspect =>
        running.has(suspect) || running.enter(suspect, nowMs) || running.force(suspect, nowMs),
    );
    if (alone === undefined) return this.#compose(nowMs, false);
    const count = Math.min(alone.pending, this.#budget.allowance(0));
    return { decode: [], prefill: [this.#item(alone, count)] };
  }

  #item(row: GenerationSequence<T>, count: number): StepItem<T> {
    return row.item(count, this.options.memory.blocksOf(row));
  }

  #start(items: StepItems<T>, nowMs: number): GenerationPlan<T> | undefined {
    const leave = this.#roster.takeLeft();
    if (items.decode.length + items.prefill.length + leave.length === 0) return undefined;
    return this.#steps.start(items, leave, nowMs);
  }

  #expire(nowMs: number): void {
    for (const sequence of this.#roster.expired(nowMs)) this.#leave(sequence, { type: 'deadline' });
  }

  /** At once, or with the step that runs now. */
  #leave(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    if (this.#steps.has(sequence)) sequence.endWith(end);
    else this.#roster.end(sequence, end);
  }

  #isRunnable(): boolean {
    if (this.#changed || this.#roster.hasLeft || this.#steps.hasRetries) return true;
    return this.#roster.running.rows.some(row => !row.paused);
  }
}
