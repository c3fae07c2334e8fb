import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GenerationYard, YARD_DEFAULTS } from '../support/generation-yard.js';
import { type ToyRequest } from '../support/toy-model.js';

const request = (fields: Partial<ToyRequest>): ToyRequest => ({
  ...{ priorityClass: 0, arrivalMs: 0, tenant: 'a', salt: 'a', prompt: [1], maxTokens: 8, seed: 1 },
  ...fields,
});

/** A beginning that nobody shares: what is found in the cache is not charged. */
const own = (length: number, seed: number): number[] => Array.from({ length }, (_, index) => 1000 * (index + 1) + seed);

/** Weighted tokens that a tenant was given. */
const given = (yard: GenerationYard, tenant: string): number =>
  [...yard.records.values()]
    .filter(record => record.request.tenant === tenant && record.firstStep !== undefined)
    .reduce(
      (sum, { request: { prompt }, output }) => sum + prompt.length + YARD_DEFAULTS.outputWeight * output.length,
      0,
    );

describe('GenerationScheduler shares the device', () => {
  const lengths = fc.record({ prompt: fc.integer({ min: 1, max: 20 }), maxTokens: fc.integer({ min: 1, max: 20 }) });

  it('between two tenants who always have work within a bounded gap, whatever the lengths and the backlog', () => {
    fc.assert(
      fc.property(lengths, lengths, fc.integer({ min: 1, max: 4 }), fc.nat(20), (one, other, maxRows, headStart) => {
        const yard = new GenerationYard({ maxRows, blocks: 200 });
        const keep = (tenant: string, { prompt, maxTokens }: typeof one, depth: number): void => {
          const present = yard.alive.filter(record => record.request.tenant === tenant).length;
          for (let missing = depth - present; missing > 0; missing--)
            yard.submit(
              request({
                tenant,
                salt: tenant,
                prompt: own(prompt, yard.records.size),
                maxTokens,
                arrivalMs: yard.nowMs,
                seed: yard.records.size,
              }),
            );
        };
        for (let step = 0; step < headStart; step++) {
          keep('a', one, 20);
          yard.step();
        }
        keep('b', other, 10);
        const before = given(yard, 'a') - given(yard, 'b');
        const most = (of: typeof one): number => of.prompt + YARD_DEFAULTS.outputWeight * of.maxTokens;
        const bound = 2 * (maxRows + 1) * Math.max(most(one), most(other));
        for (let step = 0; step < 150; step++) {
          keep('a', one, 20);
          keep('b', other, 10);
          yard.step();
          expect(Math.abs(given(yard, 'a') - given(yard, 'b') - before)).toBeLessThanOrEqual(bound);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('so that a tenant with one request waits for running ones, not for the backlog of another', () => {
    const yard = new GenerationYard({ maxRows: 2, blocks: 200 });
    for (let index = 0; index < 50; index++) yard.submit(request({ seed: index }));
    for (let step = 0; step < 20; step++) yard.step();
    const late = request({ tenant: 'late', salt: 'late', arrivalMs: yard.nowMs });
    yard.submit(late);
    const started = (): number => [...yard.records.values()].filter(({ firstStep }) => firstStep !== undefined).length;
    const before = started();
    while (yard.records.get(late)!.firstStep === undefined) yard.step();
    expect(started() - before).toBeLessThanOrEqual(2);
    yard.drain();
  });

  it('between classes by waiting: one of a lower class starts within its width and four turns, in any stream of higher ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 2 }),
        lengths,
        (maxRows, priorityClass, other) => {
          const yard = new GenerationYard({ maxRows, blocks: 200 });
          const low = request({ tenant: 'low', salt: 'low', priorityClass });
          yard.submit(low);
          const limitMs = YARD_DEFAULTS.classWidthMs * priorityClass + 5 * (other.prompt + other.maxTokens) * 16;
          while (yard.records.get(low)!.firstStep === undefined) {
            for (let here = yard.alive.length; here < 8; here++)
              yard.submit(
                request({
                  prompt: Array(other.prompt).fill(2),
                  maxTokens: other.maxTokens,
                  arrivalMs: yard.nowMs,
                  seed: yard.records.size,
                }),
              );
            yard.step();
            expect(yard.nowMs).toBeLessThanOrEqual(limitMs);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('between REALTIME and an aged backlog by turns: three rows to REALTIME, one to the backlog, and no more of each', () => {
    const history = fc.record({
      maxRows: fc.integer({ min: 1, max: 3 }),
      backlog: fc.integer({ min: 20, max: 60 }),
      came: fc.boolean(),
      maxTokens: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(history, ({ maxRows, backlog, came, maxTokens }) => {
        const yard = new GenerationYard({ maxRows, blocks: 200 });
        const old = { priorityClass: 1, tenant: 'old', salt: 'old', maxTokens, ...(came && { agingShare: 0.25 }) };
        const arrivalMs = came ? 0 : -YARD_DEFAULTS.classWidthMs;
        for (let index = 0; index < backlog; index++)
          yard.submit(request({ ...old, arrivalMs, prompt: own(3, index), seed: index }));
        for (let step = 0; step < 5; step++) yard.step();
        const started = (): number =>
          [...yard.records.values()].filter(({ firstStep }) => firstStep !== undefined).length;
        const before = started();
        const live = Array.from({ length: 9 }, (_, index) =>
          request({
            tenant: 'live',
            salt: 'live',
            prompt: own(3, 100 + index),
            maxTokens,
            arrivalMs: yard.nowMs,
            seed: index,
          }),
        );
        live.forEach(one => yard.submit(one));
        while (live.some(one => yard.records.get(one)!.firstStep === undefined)) yard.step();
        // 9 REALTIME turns end before the third aged one; what is let in with the last of them is no rival any more.
        expect(started() - before - live.length).toBeLessThanOrEqual(2 + maxRows);
        yard.drain();
      }),
      { numRuns: 60 },
    );
  });

  it('with one that needs much memory: at most 3 that fit go before it, then it starts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 25, max: 40 }), fc.integer({ min: 1, max: 10 }), (prompt, maxTokens) => {
        const yard = new GenerationYard({ maxRows: 4, blocks: 12 });
        const small = (): ToyRequest =>
          request({
            prompt: [1, 2, 3],
            maxTokens,
            arrivalMs: yard.nowMs,
            seed: yard.records.size,
            tenant: 'small',
            salt: 'small',
          });
        for (let index = 0; index < 3; index++) yard.submit(small());
        yard.step();
        const big = request({
          prompt: Array(prompt).fill(1),
          maxTokens: 2,
          arrivalMs: yard.nowMs - 1,
          tenant: 'big',
          salt: 'big',
        });
        yard.submit(big);
        const before = new Set(yard.records.keys());
        for (let step = 0; yard.records.get(big)!.firstStep === undefined; step++) {
          yard.submit(small());
          yard.step();
          expect(step).toBeLessThan(200);
        }
        const overtook = [...yard.records.values()].filter(
          ({ request: one, firstStep }) => !before.has(one) && firstStep! < yard.records.get(big)!.firstStep!,
        );
        expect(overtook.length).toBeLessThanOrEqual(YARD_DEFAULTS.maxOvertakes);
      }),
      { numRuns: 100 },
    );
  });
});
