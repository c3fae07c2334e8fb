import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.js';

describe('backoffMs', () => {
  const backoff = { firstMs: 100, longestMs: 1000 };

  it('doubles from the first pause and stays at the longest', () => {
    expect([1, 2, 3, 4, 5, 1000].map(failures => backoffMs(failures, backoff, () => 0))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ]);
  });

  it('is up to half shorter at random', () => {
    expect(backoffMs(2, backoff, () => 0.5)).toBe(150);
    expect(backoffMs(2, backoff, () => 1)).toBe(100);
  });
});
