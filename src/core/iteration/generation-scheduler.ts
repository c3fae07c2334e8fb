import { type GenerationPlan, itemsOf, type StepOutcome } from './generation-plan.js';
import { type CancelReason, type GenerationEnd, type GenerationRequest, type Refusal } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type RosterOptions, SequenceRoster } from './sequence-roster.js';
import { StepComposer, type StepItems } from './step-composer.js';
import { InFlightSteps } from './in-flight-steps.js';
import { type ResultOptions, StepResults } from './step-results.js';
import { TokenBudget, type TokenBudgetOptions } from './token-budget.js';

export interface GenerationOptions<T> extends RosterOptions<T>, ResultOptions<T> {
  /** `minTokens` at least `maxRows`. */
  readonly budget: TokenBudgetOptions;
  /** Ceiling of `nextWakeMs` while nothing is here. */
  readonly idleWaitMs: number;
  /** Ceiling of `nextWakeMs` while something is here that cannot go. */
  readonly loadWaitMs: number;
}

/**
 * Continuous batching (D-21, seeds/continuous-batching) as pure decisions: `plan` decides, a `StepBackend` acts, `complete`
 * learns. Joins and leaves between steps. One step runs; another one may be planned behind it (`planAhead`).
 *
 *   submit → waiting → (row, memory, tokens) prefill in chunks → decode … → stop | length
 *              ▲ ╰─ preempted: memory taken, age kept ─╯              │
 *              ╰──────────────── cancel, deadline, failure ───────────╯ at once, or with the step that runs
 */
export class GenerationScheduler<T extends GenerationRequest> {
  readonly #options: GenerationOptions<T>;
  readonly #roster: SequenceRoster<T>;
  readonly #budget: TokenBudget;
  readonly #composer: StepComposer<T>;
  readonly #results: StepResults<T>;
  readonly #flights = new InFlightSteps<T>();
  /** Something came in since `plan` was asked. */
  #stirred = false;
  #steps = 0;

  /** @throws RangeError when a step might not have a token for each row. */
  constructor(options: GenerationOptions<T>) {
    if (options.budget.minTokens < options.maxRows)
      throw new RangeError(`${options.budget.minTokens} tokens per step are too few for ${options.maxRows} rows.`);
    this.#options = options;
    this.#roster = new SequenceRoster(options);
    this.#budget = new TokenBudget(options.budget);
    const { running, ledger } = this.#roster;
    this.#composer = new StepComposer({ running, ledger, budget: this.#budget });
    this.#results = new StepResults(options, this.#roster);
  }

  get waiting(): number {
    return this.#roster.line.size;
  }

  get running(): number {
    return this.#roster.running.size;
  }

  /** Tokens per step while somebody decodes. */
  get stepTokens(): number {
    return this.#budget.tokens;
  }

  /** Blocks of KV memory that nobody holds. */
  get freeBlocks(): number {
    return this.#roster.ledger.available;
  }

  /** Joins at a step boundary. A refusal when it can never run; it is then not here, and nothing is told. */
  submit(request: T): Refusal | undefined {
    const refusal = this.#roster.refusal(request);
    if (refusal) return refusal;
    this.#roster.add(request);
    this.#stirred = true;
    return undefined;
  }

  /** At once, or with the step that runs now. False when it is not here (any more). */
  cancel(request: T, reason: CancelReason = 'caller'): boolean {
    const sequence = this.#roster.of(request);
    if (sequence === undefined || sequence.ending) return false;
    this.#stirred = true;
    this.#leave(sequence, { type: 'cancelled', reason });
    return true;
  }

  /** Its consumer is full: no more steps for it; the one that runs may still bring a token. Others go on. */
  pause(request: T, nowMs: number): void {
    const sequence = this.#roster.of(request);
    if (sequence) sequence.pausedSinceMs ??= nowMs;
  }

  resume(request: T): void {
    const sequence = this.#roster.of(request);
    if (sequence) sequence.pausedSinceMs = undefined;
    this.#stirred = true;
  }

  /** The next step; undefined when there is nothing to run and nothing to free. */
  plan(nowMs: number): GenerationPlan<T> | undefined {
    if (this.#flights.size > 0) throw new Error('The last plan is not complete.');
    this.#stirred = false;
    this.#expire(nowMs);
    const items = this.#results.retry() ?? this.#compose(nowMs);
    return this.#depart(items, this.#roster.takeLeft(), nowMs);
  }

  /**
   * The step behind the one that runs, so that the backend has it when that is done: who decodes goes on with the token that is
   * drawn just now, and who ends with it has gone through the model once for nothing. Undefined where the outcome decides. To be
   * asked late in a step: whoever comes afterwards is not in the next one.
   */
  planAhead(nowMs: number): GenerationPlan<T> | undefined {
    const running = this.#flights.last;
    if (running === undefined || running.isVoid) return undefined;
    if (this.#results.hasRetries || this.#roster.suspects.length > 0) return undefined;
    this.#expire(nowMs);
    const items = this.#composer.composeAhead(nowMs);
    if (items === undefined || items.decode.length + items.prefill.length === 0) return undefined;
    return this.#depart(items, this.#roster.takeLeft(), nowMs);
  }

  /** What came of the plan, of the older one if there are two. */
  complete(outcome: StepOutcome<T>, nowMs: number): void {
    const { plan, members, sinceMs } = this.#flights.land(outcome, nowMs);
    this.#stirred = true;
    if (outcome.type === 'skipped') return this.#results.skip(members);
    if (outcome.type === 'failed') return this.#results.divide(members, outcome.error);
    const tokens = members.reduce((sum, { item }) => sum + item.count, 0);
    this.#budget.observe({ decoding: plan.decode.length, tokens, ms: nowMs - sinceMs });
    for (const member of members) this.#results.learn(member, outcome.results.get(member.item.request));
  }

  /**
   * The backend is gone with all it kept, in a step or between two. All are computed again; who was in a step runs alone
   * until past where it died, so that whoever kills a backend by itself fails by itself.
   */
  lost(error: Error): void {
    const members = this.#flights.lose();
    this.#stirred = true;
    this.#roster.lose();
    this.#results.suspect(members, error);
  }

  /** Monotonic milliseconds at which to ask `plan` again, unless something is submitted, resumed or completed before. */
  nextWakeMs(nowMs: number): number {
    if (this.#flights.size === 0 && this.#isRunnable()) return nowMs;
    const { idleWaitMs, loadWaitMs } = this.#options;
    const ceilingMs = nowMs + (this.#roster.size > 0 ? loadWaitMs : idleWaitMs);
    return Math.max(nowMs, Math.min(ceilingMs, this.#roster.firstDeadlineMs));
  }

  /** @throws Error when blocks or requests are lost or counted twice; for tests, after every step. */
  audit(): void {
    this.#roster.audit();
  }

  #compose(nowMs: number): StepItems<T> {
    const { suspects } = this.#roster;
    return suspects.length > 0 ? this.#composer.quarantine(suspects, nowMs) : this.#composer.compose(nowMs);
  }

  #depart({ decode, prefill }: StepItems<T>, leave: readonly T[], nowMs: number): GenerationPlan<T> | undefined {
    if (decode.length + prefill.length + leave.length === 0) return undefined;
    const plan = { step: ++this.#steps, ahead: this.#flights.size > 0, leave, decode, prefill };
    const members = itemsOf(plan).map(item => ({ item, sequence: this.#roster.of(item.request)! }));
    this.#flights.depart(plan, members, nowMs);
    return plan;
  }

  #expire(nowMs: number): void {
    for (const sequence of this.#roster.expired(nowMs)) this.#leave(sequence, { type: 'deadline' });
  }

  /** At once, or with the step that runs now. */
  #leave(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    if (this.#flights.has(sequence)) sequence.ending ??= end;
    else this.#roster.end(sequence, end);
  }

  #isRunnable(): boolean {
    if (this.#stirred || this.#roster.hasLeft || this.#results.hasRetries) return true;
    return this.#roster.running.rows.some(row => !row.paused);
  }
}
