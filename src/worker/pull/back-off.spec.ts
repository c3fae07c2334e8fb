import { describe, expect, it } from '@jest/globals';
import { backOffMs } from './back-off.js';

describe('backOffMs', () => {
  const rules = { firstMs: 100, mostMs: 1000 };

  it('doubles from the first pause and ends at the longest', () => {
    expect([1, 2, 3, 4, 5, 1000].map(attempt => backOffMs(attempt, rules, () => 0))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ]);
  });

  it('is shorter by up to a half, by chance', () => {
    expect(backOffMs(2, rules, () => 0.5)).toBe(150);
    expect(backOffMs(2, rules, () => 0.999)).toBeGreaterThan(100);
  });
});
