import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CellRate, remaining, take, waitMs } from '../../src/core/limits/cell-rate.js';

const rates = fc.record({
  limit: fc.integer({ min: 1, max: 10_000 }),
  periodMs: fc.constantFrom(1000, 60_000),
});
const steps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 90_000 }),
    units: fc.integer({ min: 1, max: 50 }),
  }),
  {
    maxLength: 200,
  },
);

/** Takes whatever is given; instants and units of what was taken. */
function taken(rate: CellRate, wishes: readonly { afterMs: number; units: number }[]) {
  const taken: { atMs: number; units: number }[] = [];
  let [nowMs, paidMs] = [0, 0];
  for (const { afterMs, units } of wishes) {
    nowMs += afterMs;
    if (units > rate.limit || waitMs(rate, paidMs, units, nowMs) > 0) continue;
    paidMs = take(rate, paidMs, units, nowMs);
    taken.push({ atMs: nowMs, units });
  }
  return taken;
}

describe('a rate', () => {
  it('gives in no stretch of time more than its limit and what that time refills', () => {
    fc.assert(
      fc.property(rates, steps, (rate, wishes) => {
        const all = taken(rate, wishes);
        for (const [first, { atMs }] of all.entries()) {
          let sum = 0;
          for (const later of all.slice(first)) {
            sum += later.units;
            const refilled = (rate.limit * (later.atMs - atMs)) / rate.periodMs;
            expect(sum).toBeLessThanOrEqual(rate.limit + refilled + 0.01);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives after the wait it names, and not a unit of it earlier', () => {
    fc.assert(
      fc.property(rates, steps, fc.integer({ min: 1, max: 50 }), (rate, wishes, units) => {
        fc.pre(units <= rate.limit);
        const paidMs = taken(rate, wishes).reduce(
          (paid, { atMs, units: n }) => take(rate, paid, n, atMs),
          0,
        );
        const wait = waitMs(rate, paidMs, units, 0);
        expect(waitMs(rate, paidMs, units, Math.ceil(wait))).toBe(0);
        if (wait > 1) expect(waitMs(rate, paidMs, units, wait - 1)).toBeGreaterThan(0);
      }),
    );
  });

  it('never tells of more or less than it would give', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 200_000 }), (rate, paidMs) => {
        const left = remaining(rate, paidMs, 0);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left).toBeLessThanOrEqual(rate.limit);
        if (left > 0) expect(waitMs(rate, paidMs, left, 0)).toBe(0);
        else expect(waitMs(rate, paidMs, 1, 0)).toBeGreaterThan(0);
      }),
    );
  });
});
