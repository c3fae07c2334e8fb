import { describe, expect, it } from '@jest/globals';
import { GenerationYard, YARD_DEFAULTS } from '../../../test/support/generation-yard.js';
import { BackendDied } from '../../../test/support/step-simulator.js';
import { soloOutput, type ToyRequest } from '../../../test/support/toy-model.js';
import { type GenerationPlan, type ItemResult, itemsOf } from './generation-plan.js';

/** Draws 8 tokens before the toy model would end, for each of these seeds. */
const LONG_SEEDS = Array.from({ length: 400 }, (_, seed) => seed).filter(
  seed => soloOutput({ ...base(seed), maxTokens: 8 }).reason === 'length',
);

function base(seed: number): ToyRequest {
  return { priorityClass: 0, arrivalMs: 0, tenant: 'a', salt: 'a', prompt: [1, 2], maxTokens: 8, seed };
}
const request = (nth: number, fields: Partial<ToyRequest> = {}): ToyRequest => ({
  ...base(LONG_SEEDS[nth]!),
  ...fields,
});
const sizes = (plan?: GenerationPlan<ToyRequest>) => [
  plan?.decode.length,
  plan?.prefill.map(({ tokens }) => tokens.length),
];
const endOf = (yard: GenerationYard, one: ToyRequest) => yard.records.get(one)!.ends[0];

describe('GenerationScheduler', () => {
  it('decodes first, one token each, and prefills in chunks with what is left of the 16 tokens', () => {
    const yard = new GenerationYard({ budget: { minTokens: 4, maxTokens: 16, targetMs: 1000 } });
    yard.submit(request(0));
    yard.submit(request(1, { prompt: Array<number>(20).fill(3), maxTokens: 2, salt: 'b' }));
    expect([sizes(yard.step()), sizes(yard.step())]).toEqual([
      [0, [2, 14]],
      [1, [6]],
    ]);
  });

  it('runs eight sequences in one native run per token', () => {
    const yard = new GenerationYard({
      maxRows: 8,
      budget: { minTokens: 8, maxTokens: 16, targetMs: 1000 },
      blocks: 64,
    });
    for (let nth = 0; nth < 8; nth++) yard.submit(request(nth));
    yard.drain();
    expect(yard.simulator.runs).toBe(8);
  });

  it('does not compute again what another of its salt has, and does for another salt', () => {
    const prompt = Array<number>(12).fill(4);
    const yard = new GenerationYard({ blocks: 40 });
    yard.submit(request(0, { prompt }));
    yard.step();
    yard.submit(request(1, { prompt }));
    yard.submit(request(2, { prompt, salt: 'b' }));
    expect(yard.step()!.prefill.map(({ position }) => position)).toEqual([8, 0]);
  });

  it('refuses what can never run, and says by how much', () => {
    const yard = new GenerationYard({ blocks: 4, maxContext: 30 });
    const reasons = [{ prompt: [] }, { maxTokens: 0 }, { maxTokens: 29 }, { maxTokens: 16 }, { maxTokens: 15 }].map(
      fields => yard.scheduler.submit(request(0, fields)),
    );
    expect(reasons.map(refusal => refusal?.reason)).toEqual([
      ...['empty_prompt', 'no_tokens_asked', 'beyond_context', 'beyond_memory'],
      undefined,
    ]);
    expect(reasons[3]).toMatchObject({ tokens: 18, limit: 17 });
    expect(yard.scheduler.waiting).toBe(1);
  });

  it('asks for 50 ms when nobody is here, 5 ms when all are paused, the deadline if sooner, and no wait when something can run', () => {
    const yard = new GenerationYard();
    const wait = () => yard.scheduler.nextWakeMs(yard.nowMs) - yard.nowMs;
    expect(wait()).toBe(50);
    const one = request(0, { deadlineMs: 100 });
    yard.submit(one);
    expect(wait()).toBe(0);
    yard.step();
    yard.scheduler.pause(one, yard.nowMs);
    yard.scheduler.plan(yard.nowMs);
    expect(wait()).toBe(5);
    yard.nowMs = 97;
    expect(wait()).toBe(3);
    yard.scheduler.resume(one);
    expect(wait()).toBe(0);
    yard.nowMs = 100;
    yard.step();
    expect(endOf(yard, one)).toEqual({ type: 'deadline' });
  });

  it('ends one whose consumer is gone with the step that runs, and gives its row to the next', () => {
    const yard = new GenerationYard({ maxRows: 1 });
    const [gone, next] = [request(0), request(1)];
    yard.submit(gone);
    yard.submit(next);
    yard.step(() => yard.scheduler.cancel(gone, 'consumer_gone'));
    expect([endOf(yard, gone), yard.records.get(gone)!.output]).toEqual([
      { type: 'cancelled', reason: 'consumer_gone' },
      [],
    ]);
    const plan = yard.step()!;
    expect([plan.leave, itemsOf(plan).map(item => item.request)]).toEqual([[gone], [next]]);
  });

  it('takes a row from a lower class for a higher one, and gives the lower one its text all the same', () => {
    const yard = new GenerationYard({ maxRows: 1 });
    const [bulk, urgent] = [request(0, { priorityClass: 1 }), request(1)];
    yard.submit(bulk);
    yard.step();
    yard.submit(urgent);
    const plan = yard.step()!;
    expect([plan.leave, itemsOf(plan).map(item => item.request)]).toEqual([[bulk], [urgent]]);
    yard.drain();
    expect(yard.records.get(bulk)!.output).toEqual(soloOutput(bulk).tokens);
  });

  it('holds nobody up for a slow consumer: after 50 ms its row goes to who waits', () => {
    const yard = new GenerationYard({ maxRows: 1 });
    const [slow, next] = [request(0), request(1)];
    yard.submit(slow);
    yard.step();
    yard.scheduler.pause(slow, yard.nowMs);
    yard.submit(next);
    while (endOf(yard, next) === undefined) yard.step();
    expect(yard.records.get(next)!.firstMs).toBeLessThanOrEqual(50 + 2 * YARD_DEFAULTS.loadWaitMs);
    yard.scheduler.resume(slow);
    yard.drain();
    expect(yard.records.get(slow)!.output).toEqual(soloOutput(slow).tokens);
  });

  it('finds the one of four that spoils a run in 4 runs, and fails it alone', () => {
    const bad = request(2);
    const beforeRun = (items: readonly { request: ToyRequest }[]) => {
      if (items.some(item => item.request === bad)) throw new Error('spoiled');
    };
    const yard = new GenerationYard({ beforeRun });
    const all = [request(0), request(1), bad, request(3)];
    for (const one of all) yard.submit(one);
    while (endOf(yard, bad) === undefined) yard.step();
    expect(yard.simulator.runs).toBe(4);
    yard.drain();
    expect(all.map(one => endOf(yard, one)!.type)).toEqual(['finished', 'finished', 'failed', 'finished']);
  });

  it('goes on after the backend died, and fails only the one that kills it by itself', () => {
    const killer = request(1);
    const beforeRun = (items: readonly { request: ToyRequest; position: number }[]) => {
      if (items.some(item => item.request === killer && item.position >= 4)) throw new BackendDied('killed');
    };
    const yard = new GenerationYard({ beforeRun });
    const all = [request(0), killer, request(2)];
    for (const one of all) yard.submit(one);
    yard.drain();
    expect(all.map(one => endOf(yard, one)!.type)).toEqual(['finished', 'failed', 'finished']);
    for (const one of [all[0]!, all[2]!]) expect(yard.records.get(one)!.output).toEqual(soloOutput(one).tokens);
  });

  it('has one plan at a time besides the one ahead, and a token per step for each row', () => {
    const yard = new GenerationYard();
    yard.submit(request(0));
    yard.scheduler.plan(0);
    expect(() => yard.scheduler.plan(0)).toThrow('A step is in flight');
    expect(() => new GenerationYard({ maxRows: 5 })).toThrow(RangeError);
  });
});

describe('GenerationScheduler, planning while a step runs', () => {
  /** A yard after the step of the prompts, so that all decode. */
  const decoding = (...all: readonly ToyRequest[]): GenerationYard => {
    const yard = new GenerationYard({ budget: { minTokens: 4, maxTokens: 16, targetMs: 1000 } });
    for (const one of all) yard.submit(one);
    yard.step();
    return yard;
  };
  const places = (plan?: GenerationPlan<ToyRequest>) =>
    plan && itemsOf(plan).map(({ request: one, position, count, tokens }) => [one, position, count, tokens.length]);

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
      { type: 'done', results: new Map<ToyRequest, ItemResult>([...drawn, [next, { type: 'computed' }]]) },
      nowMs,
    );
    expect(places(scheduler.planAhead(nowMs))).toEqual([
      [first, 5, 1, 0],
      [next, 20, 1, 0],
    ]);
  });

  it('waits for the outcome where somebody would have to leave for the next step', () => {
    const yard = new GenerationYard({ maxRows: 1 });
    const [bulk, urgent] = [request(0, { priorityClass: 1 }), request(1)];
    yard.submit(bulk);
    yard.step();
    yard.scheduler.plan(yard.nowMs);
    yard.submit(urgent);
    expect(yard.scheduler.planAhead(yard.nowMs)).toBeUndefined();
  });

  it('tells nothing of who ended with the step that ran, though it is in the one behind it', () => {
    const [gone, stays] = [request(0), request(1)];
    const yard = decoding(gone, stays);
    const { scheduler, nowMs } = yard;
    const results = new Map([gone, stays].map(one => [one, { type: 'token', token: 1 } as const]));
    scheduler.plan(nowMs);
    scheduler.planAhead(nowMs);
    scheduler.cancel(gone);
    expect(endOf(yard, gone)).toBeUndefined();
    scheduler.complete({ type: 'done', results }, nowMs);
    expect(endOf(yard, gone)).toEqual({ type: 'cancelled', reason: 'caller' });
    // The same handle again: what the step behind still brings is not for it.
    scheduler.submit(gone);
    scheduler.complete({ type: 'done', results }, nowMs);
    expect([yard.records.get(gone)!.output.length, yard.records.get(stays)!.output.length]).toEqual([1, 3]);
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
    const yard = decoding(alone);
    yard.scheduler.plan(yard.nowMs);
    yard.scheduler.planAhead(yard.nowMs);
    yard.scheduler.lost(new Error('gone'));
    expect(endOf(yard, alone)).toMatchObject({ type: 'failed' });
    const [one, other] = [request(1), request(2)];
    const both = decoding(one, other);
    both.scheduler.plan(both.nowMs);
    both.scheduler.planAhead(both.nowMs);
    both.scheduler.lost(new Error('gone'));
    expect(itemsOf(both.scheduler.plan(both.nowMs)!)).toHaveLength(1);
    expect(both.scheduler.planAhead(both.nowMs)).toBeUndefined();
  });
});
