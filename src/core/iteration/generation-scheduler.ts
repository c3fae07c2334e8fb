import { BlockLedger, type LedgerOptions } from './block-ledger.js';
import { FairLine } from './fair-line.js';
import { type GenerationPlan, itemsOf, type ItemResult, type StepItem, type StepOutcome } from './generation-plan.js';
import {
  type CancelReason,
  type GenerationEnd,
  type GenerationListener,
  type GenerationRequest,
  type Refusal,
} from './generation-request.js';
import { GenerationSequence, mostTokens } from './generation-sequence.js';
import { RunningSet, type RunningSetOptions } from './running-set.js';
import { StepComposer, type StepItems } from './step-composer.js';
import { StepRetries } from './step-retries.js';
import { TenantCounters } from './tenant-counters.js';
import { TokenBudget, type TokenBudgetOptions } from './token-budget.js';

export interface GenerationOptions<T> extends RunningSetOptions, GenerationListener<T> {
  readonly memory: LedgerOptions;
  /** Tokens of one sequence, prompt and answer. */
  readonly maxContext: number;
  /** `minTokens` at least `maxRows`. */
  readonly budget: TokenBudgetOptions;
  /** What a generated token counts on its tenant's counter; a token of a prompt counts 1. */
  readonly outputWeight: number;
  /** Ceiling of `nextWakeMs` while nothing is here. */
  readonly idleWaitMs: number;
  /** Ceiling of `nextWakeMs` while something is here that cannot go. */
  readonly loadWaitMs: number;
}

interface Flight<T> {
  readonly plan: GenerationPlan<T>;
  readonly sinceMs: number;
}

/**
 * Continuous batching (D-21, seeds/continuous-batching) as pure decisions: `plan` decides, a `StepBackend` acts, `complete`
 * learns. One plan at a time; joins and leaves between steps.
 *
 *   submit → waiting → (row, memory, tokens) prefill in chunks → decode … → stop | length
 *              ▲ ╰─ preempted: memory taken, age kept ─╯              │
 *              ╰──────────────── cancel, deadline, failure ───────────╯ at once, or with the step that runs
 */
export class GenerationScheduler<T extends GenerationRequest> {
  readonly #options: GenerationOptions<T>;
  readonly #ledger: BlockLedger<GenerationSequence<T>>;
  readonly #counters = new TenantCounters();
  readonly #line: FairLine<GenerationSequence<T>>;
  readonly #running: RunningSet<T>;
  readonly #budget: TokenBudget;
  readonly #composer: StepComposer<T>;
  readonly #retries = new StepRetries<T>();
  readonly #sequences = new Map<T, GenerationSequence<T>>();
  #left: T[] = [];
  #flight: Flight<T> | undefined;
  /** Something came in since `plan` had nothing to do. */
  #stirred = false;
  #steps = 0;

  /** @throws RangeError when a step might not have a token for each row. */
  constructor(options: GenerationOptions<T>) {
    if (options.budget.minTokens < options.maxRows)
      throw new RangeError(`${options.budget.minTokens} tokens per step are too few for ${options.maxRows} rows.`);
    this.#options = options;
    this.#ledger = new BlockLedger(options.memory);
    this.#line = new FairLine(this.#counters, options.classWidthMs);
    this.#running = new RunningSet(options, { ledger: this.#ledger, line: this.#line, counters: this.#counters });
    this.#budget = new TokenBudget(options.budget);
    this.#composer = new StepComposer({ running: this.#running, ledger: this.#ledger, budget: this.#budget });
  }

  get waiting(): number {
    return this.#line.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Tokens per step while somebody decodes. */
  get stepTokens(): number {
    return this.#budget.tokens;
  }

  /** Blocks of KV memory that nobody holds. */
  get freeBlocks(): number {
    return this.#ledger.available;
  }

  /** Joins at a step boundary. A refusal when it can never run; it is then not here, and nothing is told. */
  submit(request: T): Refusal | undefined {
    const refusal = this.#refusal(request);
    if (refusal) return refusal;
    const sequence = new GenerationSequence(request, this.#options.classWidthMs);
    this.#sequences.set(request, sequence);
    this.#counters.join(request.tenant);
    this.#line.add(sequence);
    this.#stirred = true;
    return undefined;
  }

  /** At once, or with the step that runs now. False when it is not here (any more). */
  cancel(request: T, reason: CancelReason = 'caller'): boolean {
    const sequence = this.#sequences.get(request);
    if (sequence === undefined || sequence.cancelled) return false;
    sequence.cancelled = reason;
    if (!this.#isInFlight(request)) this.#end(sequence, { type: 'cancelled', reason });
    return true;
  }

  /** Its consumer is full: no more steps for it; the one that runs may still bring a token. Others go on. */
  pause(request: T, nowMs: number): void {
    const sequence = this.#sequences.get(request);
    if (sequence) sequence.pausedSinceMs ??= nowMs;
  }

  resume(request: T): void {
    const sequence = this.#sequences.get(request);
    if (sequence) sequence.pausedSinceMs = undefined;
    this.#stirred = true;
  }

  /** The next step; undefined when there is nothing to run and nothing to free. */
  plan(nowMs: number): GenerationPlan<T> | undefined {
    if (this.#flight) throw new Error('The last plan is not complete.');
    this.#expire(nowMs);
    const { decode, prefill } = this.#retry() ?? this.#usual(nowMs);
    const leave = [...this.#left, ...this.#running.takePreempted().map(({ request }) => request)];
    this.#left = [];
    this.#stirred = false;
    if (decode.length + prefill.length + leave.length === 0) return undefined;
    const plan = { step: ++this.#steps, leave, decode, prefill };
    this.#flight = { plan, sinceMs: nowMs };
    return plan;
  }

  /** What came of the plan. */
  complete(outcome: StepOutcome<T>, nowMs: number): void {
    if (!this.#flight) throw new Error('There is no plan to complete.');
    const { plan, sinceMs } = this.#flight;
    this.#flight = undefined;
    const items = itemsOf(plan);
    if (outcome.type === 'failed') return this.#divide(items, outcome.error);
    const tokens = items.reduce((sum, item) => sum + item.tokens.length, 0);
    this.#budget.observe({ decoding: plan.decode.length, tokens, ms: nowMs - sinceMs });
    for (const item of items) this.#learn(item, outcome.results.get(item.request));
  }

  /**
   * The backend is gone with all it kept, in a step or between two. All are computed again; who was in the step runs alone
   * until past where it died, so that whoever kills a backend by itself fails by itself.
   */
  lost(error: Error): void {
    const items = this.#flight ? itemsOf(this.#flight.plan) : [];
    this.#flight = undefined;
    this.#retries.clear();
    this.#left = [];
    this.#running.lose();
    this.#stirred = true;
    for (const item of items) this.#suspect(item, items.length === 1 ? error : undefined);
  }

  /** Monotonic milliseconds at which to ask `plan` again, unless something is submitted, resumed or completed before. */
  nextWakeMs(nowMs: number): number {
    if (!this.#flight && this.#isRunnable()) return nowMs;
    const { idleWaitMs, loadWaitMs } = this.#options;
    let wakeMs = nowMs + (this.#sequences.size > 0 ? loadWaitMs : idleWaitMs);
    for (const { deadlineMs } of this.#sequences.keys()) wakeMs = Math.min(wakeMs, deadlineMs ?? wakeMs);
    return Math.max(nowMs, wakeMs);
  }

  /** @throws Error when blocks are lost or counted twice, or somebody is nowhere; for tests, after every step. */
  audit(): void {
    this.#ledger.audit();
    const places = this.waiting + this.running;
    if (places !== this.#sequences.size) throw new Error(`${places} places for ${this.#sequences.size} requests.`);
    if (places === 0 && this.freeBlocks !== this.#options.memory.blocks) throw new Error('Nobody holds blocks.');
  }

  #refusal(request: T): Refusal | undefined {
    const { memory, maxContext } = this.#options;
    const tokens = request.prompt.length + request.maxTokens;
    const limit = Math.min(maxContext, this.#ledger.capacity + 1);
    const refuse = (reason: Refusal['reason']): Refusal => ({ reason, tokens, limit });
    if (this.#sequences.has(request)) return refuse('already_submitted');
    if (request.prompt.length === 0) return refuse('empty_prompt');
    if (!(request.maxTokens >= 1)) return refuse('no_tokens_asked');
    if (tokens > maxContext) return refuse('beyond_context');
    return mostTokens(request) > memory.blocks * memory.blockTokens ? refuse('beyond_memory') : undefined;
  }

  #retry(): StepItems<T> | undefined {
    const items = this.#retries.next(
      ({ request, position }) => this.#running.at(this.#sequences.get(request)) === position,
    );
    if (items === undefined) return undefined;
    const isDecode = ({ request, tokens }: StepItem<T>): boolean =>
      tokens.length === 1 && this.#sequences.get(request)!.decoding;
    return { decode: items.filter(isDecode), prefill: items.filter(item => !isDecode(item)) };
  }

  #usual(nowMs: number): StepItems<T> {
    const suspects = [...this.#sequences.values()].filter(({ suspect, paused }) => suspect && !paused);
    if (suspects.length === 0) return this.#composer.compose(nowMs);
    return this.#composer.quarantine(
      suspects.sort((a, b) => a.key - b.key),
      nowMs,
    );
  }

  #learn(
    item: StepItem<T>,
    result: ItemResult = { type: 'failed', error: new Error('The step gave no result.') },
  ): void {
    const sequence = this.#sequences.get(item.request);
    if (sequence === undefined) return;
    if (sequence.cancelled) return this.#end(sequence, { type: 'cancelled', reason: sequence.cancelled });
    if (result.type === 'failed') return this.#end(sequence, result);
    if (item.sample !== (result.type !== 'computed'))
      return this.#end(sequence, { type: 'failed', error: new Error('The step drew a token too many, or too few.') });
    sequence.computed += item.tokens.length;
    this.#running.learn(sequence, item.position);
    if (result.type === 'stop') return this.#end(sequence, { type: 'finished', reason: 'stop' });
    if (result.type === 'token') this.#emit(sequence, result);
  }

  #emit(sequence: GenerationSequence<T>, { token, stop }: { readonly token: number; readonly stop?: boolean }): void {
    sequence.tokens.push(token);
    this.#counters.charge(sequence.tenant, this.#options.outputWeight);
    this.#options.emitted(sequence.request, token, sequence.output - 1);
    if (stop) this.#end(sequence, { type: 'finished', reason: 'stop' });
    else if (sequence.output >= sequence.request.maxTokens) this.#end(sequence, { type: 'finished', reason: 'length' });
  }

  #divide(items: readonly StepItem<T>[], error: Error): void {
    const culprit = this.#retries.split(items);
    for (const { request } of items) {
      const sequence = this.#sequences.get(request);
      if (sequence?.cancelled) this.#end(sequence, { type: 'cancelled', reason: sequence.cancelled });
      else if (sequence && culprit?.request === request) this.#end(sequence, { type: 'failed', error });
    }
  }

  #suspect({ request, position, tokens }: StepItem<T>, error: Error | undefined): void {
    const sequence = this.#sequences.get(request);
    if (sequence?.cancelled) this.#end(sequence, { type: 'cancelled', reason: sequence.cancelled });
    else if (sequence && error) this.#end(sequence, { type: 'failed', error });
    else if (sequence) sequence.suspectUntil = position + tokens.length;
  }

  #expire(nowMs: number): void {
    for (const [{ deadlineMs }, sequence] of this.#sequences)
      if (deadlineMs !== undefined && deadlineMs <= nowMs) this.#end(sequence, { type: 'deadline' });
  }

  /** Removed before it is told. */
  #end(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    const { request, tenant } = sequence;
    if (!this.#sequences.delete(request)) return;
    if (this.#running.drop(sequence)) this.#left.push(request);
    else this.#line.remove(sequence);
    this.#counters.leave(tenant);
    this.#stirred = true;
    this.#options.ended(request, end);
  }

  #isInFlight(request: T): boolean {
    return this.#flight !== undefined && itemsOf(this.#flight.plan).some(item => item.request === request);
  }

  #isRunnable(): boolean {
    if (this.#stirred || this.#left.length > 0 || this.#retries.size > 0) return true;
    return this.#running.rows.some(row => !row.paused);
  }
}
