import { beforeEach, describe, expect, it } from '@jest/globals';
import { WorkRate } from './work-rate.js';

describe('WorkRate', () => {
  let rate: WorkRate;
  beforeEach(() => {
    rate = new WorkRate();
  });

  it('is unknown before work was sent while more waited', () => {
    expect(rate.msFor(100)).toBe(0);
    rate.sent(100, 0, false);
    rate.sent(100, 1000, false);
    expect(rate.msFor(100)).toBe(0);
  });

  it('is what left per time while more waited; what filled idle workers does not count', () => {
    for (let first = 0; first < 16; first += 1) rate.sent(10, first / 10, true);
    for (let group = 1; group <= 3; group += 1) rate.sent(80, 3000 * group, true);
    expect(rate.msFor(80)).toBeCloseTo(3000);
  });

  it('does not count the time in which nothing waited', () => {
    rate.sent(10, 0, true);
    rate.sent(10, 100, false);
    rate.sent(10, 60_000, true);
    rate.sent(10, 60_100, true);
    expect(rate.msFor(10)).toBeCloseTo(100);
  });

  it('follows a change: twice the workers after half a minute', () => {
    for (let atMs = 0; atMs <= 30_000; atMs += 100) rate.sent(10, atMs, true);
    for (let atMs = 30_050; atMs <= 60_000; atMs += 50) rate.sent(10, atMs, true);
    expect(rate.msFor(10)).toBeLessThan(55);
  });
});
