import {
  type GenerationPlan,
  type StepOutcome,
} from '@switchyard/engine-api/generation-plan.js';
import {
  type SequenceCancelReason,
  type GenerationEnd,
  type GenerationRequest,
  type SubmitRefusal,
} from '@switchyard/engine-api/generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import {
  GenerationSteps,
  type InFlightStep,
  type ResultOptions,
} from './generation-steps.js';
import { type RosterOptions, SequenceRoster } from './sequence-roster.js';
import { StepComposer, type StepItems } from './step-composer.js';
import { TokenBudget, type TokenBudgetOptions } from './token-budget.js';

export interface GenerationOptions<T extends GenerationRequest>
  extends RosterOptions<T>, ResultOptions<T> {
  /** `minTokens` at least `maxRows`. */
  readonly budget: TokenBudgetOptions;
  /** Ceiling of `nextWakeMs` without requests. */
  readonly idleWaitMs: number;
  /** Ceiling of `nextWakeMs` while no request can run. */
  readonly loadWaitMs: number;
}

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
  readonly #composer: StepComposer<T>;
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
    this.#composer = new StepComposer({
      running: this.#roster.running,
      memory: options.memory,
      budget: this.#budget,
    });
    this.#steps = new GenerationSteps(options, this.#roster);
  }

  get waiting(): number {
    return this.#roster.queue.size;
  }

  get running(): number {
    return this.#roster.running.size;
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
    const sequence = this.#roster.of(request);
    if (sequence) sequence.pausedSinceMs ??= nowMs;
  }

  resume(request: T): void {
    const sequence = this.#roster.of(request);
    if (sequence) sequence.pausedSinceMs = undefined;
    this.#changed = true;
  }

  /** The next step; undefined when there is nothing to run and nothing to free. */
  plan(nowMs: number): GenerationPlan<T> | undefined {
    if (this.#steps.inFlight > 0) throw new Error('A step is in flight.');
    this.#changed = false;
    this.#roster.running.reconcile();
    this.#expire(nowMs);
    const items = this.#steps.retry() ?? this.#compose(nowMs);
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
    const items = this.#composer.composeAhead(nowMs);
    if (items === undefined || items.decode.length + items.prefill.length === 0)
      return undefined;
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

  #compose(nowMs: number): StepItems<T> {
    const { suspects } = this.#roster;
    return suspects.length > 0
      ? this.#composer.quarantine(suspects, nowMs)
      : this.#composer.compose(nowMs);
  }

  #start(items: StepItems<T>, nowMs: number): GenerationPlan<T> | undefined {
    const leave = this.#roster.takeLeft();
    if (items.decode.length + items.prefill.length + leave.length === 0) return undefined;
    return this.#steps.start(items, leave, nowMs);
  }

  #expire(nowMs: number): void {
    for (const sequence of this.#roster.expired(nowMs))
      this.#leave(sequence, { type: 'deadline' });
  }

  /** At once, or with the step that runs now. */
  #leave(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    if (this.#steps.has(sequence)) sequence.ending ??= end;
    else this.#roster.end(sequence, end);
  }

  #isRunnable(): boolean {
    if (this.#changed || this.#roster.hasLeft || this.#steps.hasRetries) return true;
    return this.#roster.running.rows.some(row => !row.paused);
  }
}
