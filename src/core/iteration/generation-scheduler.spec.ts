import { describe, expect, it } from '@jest/globals';
import {
  type GenerationPlan,
  type ItemResult,
  itemsOf,
} from '@switchyard/engine-api/generation-plan.js';
import { GenerationHarness, YARD_DEFAULTS } from '../../../test/support/generation-harness.js';
import { soloOutput, type ToyRequest } from '../../../test/support/toy-model.js';

/** Draws 8 tokens before the toy model would end, for each of these seeds. */
const LONG_SEEDS = Array.from({ length: 400 }, (_, seed) => seed).filter(
  seed => soloOutput({ ...base(seed), maxTokens: 8 }).reason === 'length',
);

function base(seed: number): ToyRequest {
  return {
    priorityClass: 0,
    arrivalMs: 0,
    tenant: 'a',
    salt: 'a',
    prompt: [1, 2],
    maxTokens: 8,
    seed,
  };
}
const request = (nth: number, fields: Partial<ToyRequest> = {}): ToyRequest => ({
  ...base(LONG_SEEDS[nth]!),
  ...fields,
});
const sizes = (plan?: GenerationPlan<ToyRequest>) => [
  plan?.decode.length,
  plan?.prefill.map(({ tokens }) => tokens.length),
];
const endOf = (harness: GenerationHarness, one: ToyRequest) => harness.records.get(one)!.ends[0];

describe('GenerationScheduler', () => {
  it('decodes first, one token each, and prefills in chunks with what is left of the 16 tokens', () => {
    const harness = new GenerationHarness({
      budget: { minTokens: 4, maxTokens: 16, targetMs: 1000 },
    });
    harness.submit(request(0));
    harness.submit(request(1, { prompt: Array<number>(20).fill(3), maxTokens: 2, salt: 'b' }));
    expect([sizes(harness.step()), sizes(harness.step())]).toEqual([
      [0, [2, 14]],
      [1, [6]],
    ]);
  });

  it('runs eight sequences in one native run per token', () => {
    const harness = new GenerationHarness({
      maxRows: 8,
      budget: { minTokens: 8, maxTokens: 16, targetMs: 1000 },
      blocks: 64,
    });
    for (let nth = 0; nth < 8; nth++) harness.submit(request(nth));
    harness.drain();
    expect(harness.simulator.runs).toBe(8);
  });

  it('does not compute again what another of its salt has, and does for another salt', () => {
    const prompt = Array<number>(12).fill(4);
    const harness = new GenerationHarness({ blocks: 40 });
    harness.submit(request(0, { prompt }));
    harness.step();
    harness.submit(request(1, { prompt }));
    harness.submit(request(2, { prompt, salt: 'b' }));
    expect(harness.step()!.prefill.map(({ position }) => position)).toEqual([8, 0]);
  });

  it('refuses what can never run, and says by how much', () => {
    const harness = new GenerationHarness({ blocks: 4, maxContext: 30 });
    const reasons = [
      { prompt: [] },
      { maxTokens: 0 },
      { maxTokens: 29 },
      { maxTokens: 16 },
      { maxTokens: 15 },
    ].map(fields => harness.scheduler.submit(request(0, fields)));
    expect(reasons.map(refusal => refusal?.reason)).toEqual([
      'empty_prompt',
      'no_tokens_asked',
      'beyond_context',
      'beyond_memory',
      undefined,
    ]);
    expect(reasons[3]).toMatchObject({ tokens: 18, limit: 17 });
    expect(harness.scheduler.waiting).toBe(1);
  });

  it('asks for 50 ms when idle, 5 ms when all are paused, the deadline if sooner, 0 when something can run', () => {
    const harness = new GenerationHarness();
    const wait = () => harness.scheduler.nextWakeMs(harness.nowMs) - harness.nowMs;
    expect(wait()).toBe(50);
    const one = request(0, { deadlineMs: 100 });
    harness.submit(one);
    expect(wait()).toBe(0);
    harness.step();
    harness.scheduler.pause(one, harness.nowMs);
    harness.scheduler.plan(harness.nowMs);
    expect(wait()).toBe(5);
    harness.nowMs = 97;
    expect(wait()).toBe(3);
    harness.scheduler.resume(one);
    expect(wait()).toBe(0);
    harness.nowMs = 100;
    harness.step();
    expect(endOf(harness, one)).toEqual({ type: 'deadline' });
  });

  it('ends one whose consumer is gone with the step that runs, and gives its row to the next', () => {
    const harness = new GenerationHarness({ maxRows: 1 });
    const [gone, next] = [request(0), request(1)];
    harness.submit(gone);
    harness.submit(next);
    harness.step(() => harness.scheduler.cancel(gone, 'consumer_gone'));
    expect([endOf(harness, gone), harness.records.get(gone)!.output]).toEqual([
      { type: 'cancelled', reason: 'consumer_gone' },
      [],
    ]);
    const plan = harness.step()!;
    expect([plan.leave, itemsOf(plan).map(item => item.request)]).toEqual([[gone], [next]]);
  });

  it('takes a row from a lower class for a higher one, and gives the lower one its text all the same', () => {
    const harness = new GenerationHarness({ maxRows: 1 });
    const [bulk, urgent] = [request(0, { priorityClass: 1 }), request(1)];
    harness.submit(bulk);
    harness.step();
    harness.submit(urgent);
    const plan = harness.step()!;
    expect([plan.leave, itemsOf(plan).map(item => item.request)]).toEqual([[bulk], [urgent]]);
    harness.drain();
    expect(harness.records.get(bulk)!.output).toEqual(soloOutput(bulk).tokens);
  });

  it('holds nobody up for a slow consumer: after 50 ms its row goes to who waits', () => {
    const harness = new GenerationHarness({ maxRows: 1 });
    const [slow, next] = [request(0), request(1)];
    harness.submit(slow);
    harness.step();
    harness.scheduler.pause(slow, harness.nowMs);
    harness.submit(next);
    while (endOf(harness, next) === undefined) harness.step();
    expect(harness.records.get(next)!.firstMs).toBeLessThanOrEqual(
      50 + 2 * YARD_DEFAULTS.loadWaitMs,
    );
    harness.scheduler.resume(slow);
    harness.drain();
    expect(harness.records.get(slow)!.output).toEqual(soloOutput(slow).tokens);
  });

  it('finds the one of four that spoils a run in 4 runs, and fails it alone', () => {
    const bad = request(2);
    const beforeRun = (items: readonly { request: ToyRequest }[]) => {
      if (items.some(item => item.request === bad)) throw new Error('spoiled');
    };
    const harness = new GenerationHarness({ beforeRun });
    const all = [request(0), request(1), bad, request(3)];
    for (const one of all) harness.submit(one);
    while (endOf(harness, bad) === undefined) harness.step();
    expect(harness.simulator.runs).toBe(4);
    harness.drain();
    expect(all.map(one => endOf(harness, one)!.type)).toEqual([
      'finished',
      'finished',
      'failed',
      'finished',
    ]);
  });

  it('has one plan at a time besides the one ahead, and a token per step for each row', () => {
    const harness = new GenerationHarness();
    harness.submit(request(0));
    harness.scheduler.plan(0);
    expect(() => harness.scheduler.plan(0)).toThrow('A step is in flight');
    expect(() => new GenerationHarness({ maxRows: 5 })).toThrow(RangeError);
  });
});

describe('GenerationScheduler, planning while a step runs', () => {
  /** A harness after the step of the prompts, so that all decode. */
  const decoding = (...all: readonly ToyRequest[]): GenerationHarness => {
    const harness = new GenerationHarness({
      budget: { minTokens: 4, maxTokens: 16, targetMs: 1000 },
    });
    for (const one of all) harness.submit(one);
    harness.step();
    return harness;
  };
  const places = (plan?: GenerationPlan<ToyRequest>) =>
    plan &&
    itemsOf(plan).map(({ request: one, position, count, tokens }) => [
      one,
      position,
      count,
      tokens.length,
    ]);

  it('goes on with tokens that are not known yet, of those for whom that one is not the last', () => {
    const [long, short] = [request(0), request(1, { maxTokens: 2 })];
    const { scheduler, nowMs } = decoding(long, short);
    expect(places(scheduler.plan(nowMs))).toEqual([
      [long, 2, 1, 1],
      [short, 2, 1, 1],
    ]);
    const ahead = scheduler.planAhead(nowMs)!;
    expect([ahead.ahead, places(ahead)]).toEqual([true, [[long, 3, 1, 0]]]);
    expect(scheduler.planAhead(nowMs)).toBeUndefined();
  });

  it('lets in who came since, in chunks where the prompt is long, and has it decode behind its last chunk', () => {
    const [first, next] = [request(0), request(1, { prompt: Array<number>(20).fill(3) })];
    const { scheduler, nowMs } = decoding(first);
    scheduler.plan(nowMs);
    scheduler.submit(next);
    const drawn = new Map([[first, { type: 'token', token: 1 } as const]]);
    expect(places(scheduler.planAhead(nowMs))).toEqual([
      [first, 3, 1, 0],
      [next, 0, 15, 15],
    ]);
    scheduler.complete({ type: 'done', results: drawn }, nowMs);
    expect(places(scheduler.planAhead(nowMs))).toEqual([
      [first, 4, 1, 0],
      [next, 15, 5, 5],
    ]);
    scheduler.complete(
      {
        type: 'done',
        results: new Map<ToyRequest, ItemResult>([...drawn, [next, { type: 'computed' }]]),
      },
      nowMs,
    );
    expect(places(scheduler.planAhead(nowMs))).toEqual([
      [first, 5, 1, 0],
      [next, 20, 1, 0],
    ]);
  });

  it('waits for the outcome where somebody would have to leave for the next step', () => {
    const harness = new GenerationHarness({ maxRows: 1 });
    const [bulk, urgent] = [request(0, { priorityClass: 1 }), request(1)];
    harness.submit(bulk);
    harness.step();
    harness.scheduler.plan(harness.nowMs);
    harness.submit(urgent);
    expect(harness.scheduler.planAhead(harness.nowMs)).toBeUndefined();
  });

  it('computes for nobody once all of both steps in flight are cancelled, and not before', () => {
    const [gone, stays] = [request(0), request(1)];
    const harness = decoding(gone, stays);
    const { scheduler, nowMs } = harness;
    expect(scheduler.computesForNobody).toBe(false);
    scheduler.plan(nowMs);
    scheduler.planAhead(nowMs);
    scheduler.cancel(gone);
    expect(scheduler.computesForNobody).toBe(false);
    scheduler.cancel(stays);
    expect(scheduler.computesForNobody).toBe(true);
    const error = new Error('It was stopped.');
    scheduler.complete({ type: 'failed', error }, nowMs);
    scheduler.complete({ type: 'skipped' }, nowMs);
    expect([scheduler.computesForNobody, scheduler.running]).toEqual([false, 0]);
    for (const one of [gone, stays])
      expect(endOf(harness, one)).toEqual({ type: 'cancelled', reason: 'caller' });
  });

  it('tells nothing of who ended with the step that ran, though it is in the one behind it', () => {
    const [gone, stays] = [request(0), request(1)];
    const harness = decoding(gone, stays);
    const { scheduler, nowMs } = harness;
    const results = new Map([gone, stays].map(one => [one, { type: 'token', token: 1 } as const]));
    scheduler.plan(nowMs);
    scheduler.planAhead(nowMs);
    scheduler.cancel(gone);
    expect(endOf(harness, gone)).toBeUndefined();
    scheduler.complete({ type: 'done', results }, nowMs);
    expect(endOf(harness, gone)).toEqual({ type: 'cancelled', reason: 'caller' });
    // The same handle again: what the step behind still brings is not for it.
    scheduler.submit(gone);
    scheduler.complete({ type: 'done', results }, nowMs);
    expect([
      harness.records.get(gone)!.output.length,
      harness.records.get(stays)!.output.length,
    ]).toEqual([1, 3]);
    expect(places(scheduler.plan(nowMs))).toEqual(expect.arrayContaining([[gone, 0, 2, 2]]));
  });

  it('plans no more behind a step that failed, and tries its members again with what is known by then', () => {
    const [one, other] = [request(0), request(1)];
    const { scheduler, nowMs } = decoding(one, other);
    scheduler.plan(nowMs);
    scheduler.planAhead(nowMs);
    scheduler.complete({ type: 'failed', error: new Error('spoiled') }, nowMs);
    expect(scheduler.planAhead(nowMs)).toBeUndefined();
    scheduler.complete({ type: 'skipped' }, nowMs);
    expect(places(scheduler.plan(nowMs))).toEqual([[one, 2, 1, 1]]);
  });

  it('suspects those of both steps when the backend dies, and fails who was alone in both', () => {
    const alone = request(0);
    const harness = decoding(alone);
    harness.scheduler.plan(harness.nowMs);
    harness.scheduler.planAhead(harness.nowMs);
    harness.scheduler.lost(new Error('gone'));
    expect(endOf(harness, alone)).toMatchObject({ type: 'failed' });
    const [one, other] = [request(1), request(2)];
    const both = decoding(one, other);
    both.scheduler.plan(both.nowMs);
    both.scheduler.planAhead(both.nowMs);
    both.scheduler.lost(new Error('gone'));
    expect(itemsOf(both.scheduler.plan(both.nowMs)!)).toHaveLength(1);
    expect(both.scheduler.planAhead(both.nowMs)).toBeUndefined();
  });
});
