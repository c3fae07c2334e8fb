import { describe, expect, it } from '@jest/globals';
import { inferenceTimeoutMs } from './request-timeout.js';

const policy = { timeoutMinMs: 30_000, timeoutFactor: 2 };

describe('inferenceTimeoutMs', () => {
  it.each([
    [0, 30_000],
    [1, 30_000],
    [15, 30_000],
    [15.5, 31_000],
    [1_800, 3_600_000],
  ])('gives %d s of audio %d ms: max(30 s, 2 x duration)', (durationS, expectedMs) => {
    expect(inferenceTimeoutMs(durationS, policy)).toBe(expectedMs);
  });

  it.each([NaN, Infinity, -1])('gives an unknown duration (%d) the minimum', durationS => {
    expect(inferenceTimeoutMs(durationS, policy)).toBe(30_000);
  });
});
