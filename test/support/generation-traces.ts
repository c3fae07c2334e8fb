import { itemsOf, type StepItem } from '@switchyard/engine-api/generation-plan.js';
import fc from 'fast-check';
import { GenerationHarness, YARD_DEFAULTS } from './generation-harness.js';
import { BackendDied } from './step-simulator.js';
import { type ToyRequest } from './toy-model.js';

/** Few tokens and few lengths, so that beginnings are often equal. */
const arrival = fc.record({
  afterSteps: fc.nat(4),
  tenant: fc.constantFrom('a', 'b', 'c'),
  priorityClass: fc.nat(2),
  prompt: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 24 }),
  maxTokens: fc.integer({ min: 1, max: 24 }),
  seed: fc.nat(9),
  deadlineAfterMs: fc.option(fc.integer({ min: 0, max: 300 }), { freq: 8 }),
  cancelAtStep: fc.option(fc.nat(40), { freq: 5 }),
  cancelInStep: fc.boolean(),
  pauseAtStep: fc.option(fc.nat(30), { freq: 5 }),
  pauseSteps: fc.nat(40),
  fault: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    'item',
    'run',
    'process',
  ),
  /** Position whose computation goes wrong. */
  faultAt: fc.nat(30),
});

export const trace = fc.record({
  blocks: fc.integer({ min: 6, max: 24 }),
  maxRows: fc.integer({ min: 1, max: 6 }),
  maxTokens: fc.integer({ min: 6, max: 24 }),
  headroomTokens: fc.constantFrom(0, 1, 4, 12),
  /** Runs that fail, and kill the process, by nobody's fault. */
  failedRuns: fc.oneof(fc.constant<number[]>([]), fc.array(fc.nat(40), { maxLength: 4 })),
  deadRuns: fc.oneof(fc.constant<number[]>([]), fc.array(fc.nat(40), { maxLength: 2 })),
  arrivals: fc.array(arrival, { minLength: 1, maxLength: 14 }),
  ahead: fc.boolean(),
});

export type Trace = typeof trace extends fc.Arbitrary<infer T> ? T : never;
export type Fields = Trace['arrivals'][number];

/** The same with each step planned when the one before it is complete. */
export const unhurried = (history: Trace): Trace => ({ ...history, ahead: false });

/**
 * The same without anything that ends a request early: what is left must end as
 * it does alone.
 */
export const calm = ({ arrivals, ...rest }: Trace): Trace => ({
  ...rest,
  failedRuns: [],
  deadRuns: [],
  arrivals: arrivals.map(fields => ({
    ...fields,
    deadlineAfterMs: null,
    cancelAtStep: null,
    fault: undefined,
  })),
});

export interface Played {
  readonly harness: GenerationHarness;
  readonly fieldsOf: ReadonlyMap<ToyRequest, Fields>;
  readonly cancelled: ReadonlySet<ToyRequest>;
  readonly refused: readonly ToyRequest[];
  /** Times that each was in a run that failed or died by nobody's fault. */
  readonly hit: ReadonlySet<ToyRequest>;
}

type Check = (harness: GenerationHarness, plan: ReturnType<GenerationHarness['step']>) => void;

/**
 * Plays a whole history; the rules of `GenerationHarness` hold in each step, and `check`
 * looks at each.
 */
export function play(history: Trace, check: Check = () => undefined): Played {
  const fieldsOf = new Map<ToyRequest, Fields>();
  const hit = new Set<ToyRequest>();
  const covers = (
    { request, position, count }: StepItem<ToyRequest>,
    fault: Fields['fault'],
  ): boolean => {
    const fields = fieldsOf.get(request)!;
    return (
      fields.fault === fault && position <= fields.faultAt && fields.faultAt < position + count
    );
  };
  const beforeRun = (items: readonly StepItem<ToyRequest>[]): void => {
    const { runs } = harness.simulator;
    if ([...history.deadRuns, ...history.failedRuns].includes(runs))
      items.forEach(({ request }) => hit.add(request));
    if (history.deadRuns.includes(runs)) throw new BackendDied('A process died.');
    if (items.some(item => covers(item, 'process')))
      throw new BackendDied('A request killed the process.');
    if (history.failedRuns.includes(runs)) throw new Error('A run failed.');
    if (items.some(item => covers(item, 'run'))) throw new Error('A request spoiled the run.');
  };
  const { blocks, maxRows, headroomTokens, ahead } = history;
  const budget = {
    ...YARD_DEFAULTS.budget,
    minTokens: maxRows,
    maxTokens: history.maxTokens,
  };
  const itemError = (item: StepItem<ToyRequest>) =>
    covers(item, 'item') ? new Error('An item failed.') : undefined;
  const harness = new GenerationHarness({
    blocks,
    maxRows,
    headroomTokens,
    budget,
    ahead,
    beforeRun,
    itemError,
  });
  const actors = new Actors(history, harness, fieldsOf);
  for (let step = 0; !actors.isOver(step); step++) {
    actors.before(step);
    check(
      harness,
      harness.step(() => actors.during(step)),
    );
    if (step > 6000) throw new Error(`Never ends: ${harness.log.slice(-5).join('\n')}`);
  }
  return {
    harness,
    fieldsOf,
    hit,
    cancelled: actors.cancelled,
    refused: actors.refused,
  };
}

/** Callers and consumers: they come, pause, resume and leave when the trace says so. */
class Actors {
  readonly cancelled = new Set<ToyRequest>();
  readonly refused: ToyRequest[] = [];
  readonly #script: {
    readonly at: number;
    readonly fields: Fields;
    request?: ToyRequest;
  }[] = [];
  readonly #harness: GenerationHarness;
  readonly #fieldsOf: Map<ToyRequest, Fields>;

  constructor({ arrivals }: Trace, harness: GenerationHarness, fieldsOf: Map<ToyRequest, Fields>) {
    this.#harness = harness;
    this.#fieldsOf = fieldsOf;
    let at = 0;
    for (const fields of arrivals) this.#script.push({ at: (at += fields.afterSteps), fields });
  }

  isOver(step: number): boolean {
    return this.#script.every(({ at }) => at < step) && this.#harness.alive.length === 0;
  }

  before(step: number): void {
    for (const entry of this.#script) if (entry.at === step) this.#submit(entry);
    this.#cancel(step, false);
    for (const { request, fields, at } of this.#script) {
      if (!request || fields.pauseAtStep === null) continue;
      if (step === at + fields.pauseAtStep)
        this.#harness.scheduler.pause(request, this.#harness.nowMs);
      if (step === at + fields.pauseAtStep + fields.pauseSteps)
        this.#harness.scheduler.resume(request);
    }
  }

  during(step: number): void {
    this.#cancel(step, true);
  }

  #submit(entry: { readonly fields: Fields; request?: ToyRequest }): void {
    const { tenant, priorityClass, prompt, maxTokens, seed, deadlineAfterMs } = entry.fields;
    const arrivalMs = this.#harness.nowMs;
    const deadline = deadlineAfterMs === null ? {} : { deadlineMs: arrivalMs + deadlineAfterMs };
    const request = {
      ...{ tenant, priorityClass, prompt, maxTokens, seed, arrivalMs },
      salt: `salt of ${tenant}`,
      ...deadline,
    };
    this.#fieldsOf.set(request, entry.fields);
    if (this.#harness.submit(request)) entry.request = request;
    else this.refused.push(request);
  }

  #cancel(step: number, inStep: boolean): void {
    for (const { request, fields, at } of this.#script) {
      if (!request || fields.cancelAtStep === null || fields.cancelInStep !== inStep) continue;
      const due = step >= at + fields.cancelAtStep && !this.cancelled.has(request);
      if (due && this.#harness.scheduler.cancel(request, 'consumer_gone'))
        this.cancelled.add(request);
    }
  }
}

export const isPlanned = (
  plan: ReturnType<GenerationHarness['step']>,
  request: ToyRequest,
): boolean => plan !== undefined && itemsOf(plan).some(item => item.request === request);
