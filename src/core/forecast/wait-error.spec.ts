import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WaitError } from './wait-error.js';

/** Share of `waits` within the quantile that was forecast for each before it was known. */
function within(waits: readonly { forecastMs: number; realMs: number }[], quantile: 'p50' | 'p90'): number {
  const error = new WaitError();
  const met = waits.map(({ forecastMs, realMs }) => {
    const said = error.quantiles(forecastMs);
    error.observe(forecastMs, said.p90, realMs);
    return realMs <= said[quantile];
  });
  const judged = met.slice(200);
  return judged.filter(Boolean).length / judged.length;
}

describe('WaitError', () => {
  it('believes a forecast at first, with a margin', () => {
    const { p50, p90 } = new WaitError().quantiles(1000);
    expect([p50, p90 > 1200, p90 < 1600]).toEqual([1000, true, true]);
  });

  it('covers nine in ten and half of the waits, whatever the forecasts are wrong by', () => {
    const biased = fc.record({ bias: fc.double({ min: 0.3, max: 3, noNaN: true }), seed: fc.integer() });
    fc.assert(
      fc.property(biased, ({ bias, seed }) => {
        const random = mulberry(seed);
        const waits = Array.from({ length: 2000 }, () => {
          const forecastMs = 5000 + 5000 * random();
          return { forecastMs, realMs: forecastMs * bias * (0.5 + random()) };
        });
        expect(Math.abs(within(waits, 'p90') - 0.9)).toBeLessThan(0.05);
        expect(Math.abs(within(waits, 'p50') - 0.5)).toBeLessThan(0.1);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves short waits alone', () => {
    const error = new WaitError();
    for (let count = 0; count < 100; count += 1) error.observe(0, 0, 150);
    expect(error.quantiles(0).p50).toBe(0);
  });
});

function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
