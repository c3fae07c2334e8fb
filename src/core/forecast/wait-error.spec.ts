import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WaitError } from './wait-error.js';

interface Wait {
  readonly forecastMs: number;
  readonly realMs: number;
}

/**
 * Share of `waits` within the quantile that was forecast for each; of the last 20 the end
 * is not known yet.
 */
function within(waits: readonly Wait[], quantile: 'p50' | 'p90') {
  const error = new WaitError();
  const pending: (() => void)[] = [];
  const met = waits.map(({ forecastMs, realMs }) => {
    const said = error.quantiles(forecastMs);
    pending.push(() => error.observe(forecastMs, said.p90, realMs));
    if (pending.length > 20) pending.shift()?.();
    return realMs <= said[quantile];
  });
  const judged = met.slice(200);
  return judged.filter(Boolean).length / judged.length;
}

/** Their waits are so many times as long as forecast, and differ by so much of that. */
function wrongBy(bias: number, spread: number, count: number, random: () => number): Wait[] {
  return Array.from({ length: count }, () => {
    const forecastMs = 5000 + 5000 * random();
    return { forecastMs, realMs: forecastMs * bias * (1 + spread * (2 * random() - 1)) };
  });
}

describe('WaitError', () => {
  it('believes a forecast at first, with a margin', () => {
    const { p50, p90 } = new WaitError().quantiles(1000);
    expect([p50, p90 > 1200, p90 < 1600]).toEqual([1000, true, true]);
  });

  it('covers nine in ten and half of the waits, whatever the forecasts are wrong by', () => {
    const biased = fc.record({
      bias: fc.double({ min: 0.3, max: 3, noNaN: true }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(biased, ({ bias, seed }) => {
        const waits = wrongBy(bias, 0.5, 2000, mulberry(seed));
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
