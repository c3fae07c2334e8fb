import {
  type GenerationPlan,
  itemsOf,
  type StepItem,
} from '@switchyard/engine-api/generation-plan.js';
import { type GenerationEnd } from '@switchyard/engine-api/generation-request.js';
import { GenerationScheduler } from '../../src/core/iteration/generation-scheduler.js';
import { type GenerationOptions } from '../../src/core/iteration/running-set.js';
import { BackendDied, StepSimulator, type SimulatorOptions } from './step-simulator.js';
import { TOY_END, toyNext, type ToyRequest } from './toy-model.js';

/** What came of one request. */
export interface ToyRecord {
  readonly request: ToyRequest;
  readonly output: number[];
  readonly ends: GenerationEnd[];
  endedMs: number;
  /** First item of a plan; undefined: never ran. */
  firstStep: number | undefined;
  firstMs: number | undefined;
}

export type HarnessOptions = Partial<
  Omit<GenerationOptions<ToyRequest>, 'memory' | 'emitted' | 'ended'>
> &
  Pick<SimulatorOptions<ToyRequest>, 'beforeRun' | 'itemError'> & {
    readonly blocks?: number;
    readonly blockTokens?: number;
    /** Each step is planned while the one before it runs, where that can be. */
    readonly ahead?: boolean;
  };

export const YARD_DEFAULTS = {
  maxRows: 4,
  classWidthMs: 100,
  headroomTokens: 4,
  maxPreemptions: 2,
  maxOvertakes: 3,
  backoffMs: 5,
  pauseGraceMs: 50,
  maxContext: 64,
  budget: { minTokens: 4, maxTokens: 16, targetMs: 10 },
  outputWeight: 2,
  idleWaitMs: 50,
  loadWaitMs: 5,
};

/**
 * A scheduler and a simulator in virtual time, with the rules checked in every step that
 * hold whatever happens.
 */
export class GenerationHarness {
  readonly scheduler: GenerationScheduler<ToyRequest>;
  readonly simulator: StepSimulator<ToyRequest>;
  readonly records = new Map<ToyRequest, ToyRecord>();
  /** Each plan as a line. */
  readonly log: string[] = [];
  readonly #options: typeof YARD_DEFAULTS;
  readonly #ahead: boolean;
  /** The plan that runs, and the one behind it. */
  readonly #flying: GenerationPlan<ToyRequest>[] = [];
  /**
   * Where the next item of each sequence has to start; none: anywhere within
   * what is known.
   */
  readonly #expected = new Map<ToyRequest, number>();
  nowMs = 0;

  constructor(options: HarnessOptions = {}) {
    const { blocks = 16, blockTokens = 4, ahead = false, beforeRun, itemError, ...rest } = options;
    this.#ahead = ahead;
    this.#options = { ...YARD_DEFAULTS, ...rest };
    const cost = { fixedMs: 2, perTokenMs: 0.5, perPastTokenMs: 0.01 };
    const next = (past: readonly number[], { seed }: ToyRequest): number | undefined => {
      const token = toyNext(past, seed);
      return token === TOY_END ? undefined : token;
    };
    this.simulator = new StepSimulator({
      blocks,
      blockTokens,
      cost,
      next,
      beforeRun,
      itemError,
    });
    this.scheduler = new GenerationScheduler<ToyRequest>({
      ...this.#options,
      memory: this.simulator.memory,
      emitted: (request, token, index) => this.#emitted(request, token, index),
      ended: (request, end) => this.#ended(request, end),
    });
  }

  /** False when it was refused. */
  submit(request: ToyRequest): boolean {
    if (this.scheduler.submit(request)) return false;
    const record = {
      request,
      output: [],
      ends: [],
      endedMs: 0,
      firstStep: undefined,
      firstMs: undefined,
    };
    this.records.set(request, record);
    return true;
  }

  /**
   * One iteration, or the wait until the next wake. `during` happens while the step runs.
   * @returns what ran
   */
  step(
    during: (plan: GenerationPlan<ToyRequest>) => void = () => undefined,
  ): GenerationPlan<ToyRequest> | undefined {
    if (this.#flying.length === 0) this.#plan();
    const [plan] = this.#flying;
    if (plan === undefined) {
      this.nowMs = Math.max(this.scheduler.nextWakeMs(this.nowMs), this.nowMs + 1);
      return undefined;
    }
    if (this.#ahead) this.#fly(this.scheduler.planAhead(this.nowMs));
    during(plan);
    this.#act(plan);
    this.scheduler.audit();
    return plan;
  }

  /** Steps until no sequence is left. @throws Error when that does not come. */
  drain(limit = 4000): void {
    for (let step = 0; this.scheduler.waiting + this.scheduler.running > 0; step++) {
      if (step > limit)
        throw new Error(
          `Still ${this.scheduler.waiting} waiting and ${this.scheduler.running} running.`,
        );
      this.step();
    }
  }

  get alive(): ToyRecord[] {
    return [...this.records.values()].filter(({ ends }) => ends.length === 0);
  }

  #plan(): void {
    const wakeMs = this.scheduler.nextWakeMs(this.nowMs);
    const plan = this.scheduler.plan(this.nowMs);
    if (plan && wakeMs > this.nowMs && itemsOf(plan).length > 0) this.#mustBeTimed(plan, wakeMs);
    this.#fly(plan);
  }

  #fly(plan: GenerationPlan<ToyRequest> | undefined): void {
    if (plan === undefined) return;
    if (plan.ahead !== this.#flying.length > 0)
      throw new Error('A plan that does not know what it follows.');
    this.#check(plan);
    this.#flying.push(plan);
  }

  #act(plan: GenerationPlan<ToyRequest>): void {
    try {
      const outcome = this.simulator.step(plan);
      this.nowMs += this.simulator.lastMs;
      // All that was planned from here on comes to nothing: the last of it first, so that
      // the first place stays.
      if (outcome.type === 'failed')
        for (const { request, position } of this.#flying.toReversed().flatMap(itemsOf))
          this.#expected.set(request, position);
      this.#flying.shift();
      this.scheduler.complete(outcome, this.nowMs);
    } catch (error) {
      if (!(error instanceof BackendDied)) throw error;
      this.simulator.crash();
      this.#flying.length = 0;
      this.#expected.clear();
      this.scheduler.lost(error);
    }
  }

  /**
   * A step without an event: only because time has passed (a deadline, a
   * grace, a back-off).
   */
  #mustBeTimed(plan: GenerationPlan<ToyRequest>, wakeMs: number): void {
    if (wakeMs - this.nowMs > this.#options.loadWaitMs)
      throw new Error(`Step ${plan.step} could have waited until ${wakeMs}.`);
  }

  #check(plan: GenerationPlan<ToyRequest>): void {
    const items = itemsOf(plan);
    const { maxRows, budget } = this.#options;
    const tokens = items.reduce((sum, item) => sum + item.count, 0);
    if (tokens > budget.maxTokens)
      throw new Error(`${tokens} tokens in a step of ${budget.maxTokens}.`);
    if (items.length > maxRows) throw new Error(`${items.length} items for ${maxRows} rows.`);
    if (new Set(items.map(({ request }) => request)).size !== items.length)
      throw new Error('Two items of one sequence.');
    for (const request of plan.leave) this.#expected.delete(request);
    for (const item of items) this.#checkItem(item);
    for (const { count } of plan.decode)
      if (count !== 1) throw new Error('A decode item of several tokens.');
    this.log.push(
      JSON.stringify([
        plan.leave.map(this.#name),
        ...[plan.decode, plan.prefill].map(list => list.map(this.#line)),
      ]),
    );
  }

  #checkItem({ request, position, count, tokens }: StepItem<ToyRequest>): void {
    const record = this.records.get(request)!;
    if (record.ends.length > 0) throw new Error('An item of a request that has ended.');
    const all = [...request.prompt, ...record.output];
    const expected = this.#expected.get(request);
    if (expected !== undefined && expected !== position)
      throw new Error(`Position ${position} after ${expected}.`);
    this.#expected.set(request, position + count);
    if (count === 0) throw new Error('An item without tokens.');
    const isAwaited = this.#flying.length > 0 && count === 1 && position === all.length;
    if (tokens.length !== (isAwaited ? 0 : count))
      throw new Error(`${tokens.length} of ${count} tokens are known.`);
    if (all.slice(position, position + tokens.length).join() !== tokens.join())
      throw new Error('Not its own tokens.');
    record.firstStep ??= this.log.length;
    record.firstMs ??= this.nowMs;
  }

  #emitted(request: ToyRequest, token: number, index: number): void {
    const record = this.records.get(request)!;
    if (record.ends.length > 0) throw new Error('A token after the end.');
    if (index !== record.output.length)
      throw new Error(`Token ${index} after ${record.output.length}.`);
    record.output.push(token);
  }

  #ended(request: ToyRequest, end: GenerationEnd): void {
    const record = this.records.get(request)!;
    record.ends.push(end);
    record.endedMs = this.nowMs;
  }

  readonly #name = (request: ToyRequest): number => [...this.records.keys()].indexOf(request);
  readonly #line = ({ request, position, count, sample, blocks }: StepItem<ToyRequest>): string =>
    `${this.#name(request)}@${position}+${count}${sample ? '!' : ''}[${blocks.join()}]`;
}
