import { describe, expect, it } from '@jest/globals';
import { GenerationYard, YARD_DEFAULTS } from '../../../test/support/generation-yard.js';
import { BackendDied } from '../../../test/support/step-simulator.js';
import { soloOutput, type ToyRequest } from '../../../test/support/toy-model.js';
import { type GenerationPlan, itemsOf } from './generation-plan.js';

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

  it('has one plan at a time, and a token per step for each row', () => {
    const yard = new GenerationYard();
    yard.submit(request(0));
    yard.scheduler.plan(0);
    expect(() => yard.scheduler.plan(0)).toThrow('not complete');
    expect(() => new GenerationYard({ maxRows: 5 })).toThrow(RangeError);
  });
});
