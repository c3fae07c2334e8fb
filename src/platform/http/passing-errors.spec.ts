import { describe, expect, it } from '@jest/globals';
import { queueUnavailable, shuttingDown, storageUnavailable } from './passing-errors.js';

describe('errors that pass by themselves', () => {
  it.each([
    ['shutting_down', shuttingDown, 2000, 6000],
    ['storage_unavailable', () => storageUnavailable('away'), 5000, 10_000],
    ['queue_unavailable', () => queueUnavailable('away'), 2000, 6000],
  ])('%s: callers rejected at one moment get different times', (code, make, fromMs, toMs) => {
    const errors = Array.from({ length: 100 }, make);
    const hints = errors.map(({ retryAfterMs }) => retryAfterMs!);
    expect(new Set(errors.map(error => error.code))).toEqual(new Set([code]));
    expect(Math.min(...hints)).toBeGreaterThanOrEqual(fromMs);
    expect(Math.max(...hints)).toBeLessThan(toMs);
    expect(new Set(hints).size).toBeGreaterThan(50);
  });
});
