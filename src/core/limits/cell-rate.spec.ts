import { describe, expect, it } from '@jest/globals';
import { type CellRate, remaining, take, waitMs } from './cell-rate.js';

const rate: CellRate = { limit: 6, periodMs: 60_000 };

describe('a rate of 6 a minute', () => {
  it('gives 6 at once, and then one every 10 s', () => {
    let paidMs = 0;
    for (let count = 0; count < 6; count++) {
      expect(waitMs(rate, paidMs, 1, 1000)).toBe(0);
      expect(remaining(rate, paidMs, 1000)).toBe(6 - count);
      paidMs = take(rate, paidMs, 1, 1000);
    }
    expect(waitMs(rate, paidMs, 1, 1000)).toBeGreaterThan(0);
    expect(remaining(rate, paidMs, 1000)).toBe(0);
    expect(waitMs(rate, paidMs, 1, 1000)).toBe(10_000);
    expect(waitMs(rate, paidMs, 1, 11_000)).toBe(0);
  });

  it('lets what was used be paid afterwards: 12 at once cost a second minute', () => {
    const paidMs = take(rate, 0, 12, 0);
    expect(waitMs(rate, paidMs, 1, 0)).toBe(70_000);
    expect(remaining(rate, paidMs, 60_000)).toBe(0);
    expect(remaining(rate, paidMs, 120_000)).toBe(6);
  });

  it('waits for a full bucket, and no longer, for more than there will ever be', () => {
    expect(waitMs(rate, 0, 100, 0)).toBe(0);
    expect(waitMs(rate, take(rate, 0, 1, 0), 100, 0)).toBe(10_000);
  });
});
