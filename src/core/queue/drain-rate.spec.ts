import { describe, expect, it } from '@jest/globals';
import { DrainRate } from './drain-rate.js';

/** `perS` requests per second, from `fromS` to `toS`, in groups of one. */
function drainSteadily(rate: DrainRate, perS: number, fromS: number, toS: number) {
  for (let index = 0; index < (toS - fromS) * perS; index += 1)
    rate.record(1, fromS * 1000 + (index * 1000) / perS);
}

describe('DrainRate', () => {
  it('finds 20 per second after 2 s and after 60 s alike', () => {
    const rate = new DrainRate();
    drainSteadily(rate, 20, 0, 2);
    expect(rate.perSecond(2_000)).toBeCloseTo(20, 0);
    drainSteadily(rate, 20, 2, 60);
    expect(rate.perSecond(60_000)).toBeCloseTo(20, 0);
  });

  it('counts a group of 8 as 8', () => {
    const rate = new DrainRate();
    for (let second = 0; second < 30; second += 1) rate.record(8, second * 1000);
    expect(rate.perSecond(29_500)).toBeGreaterThan(7.5);
    expect(rate.perSecond(29_500)).toBeLessThan(8.5);
  });

  it('does not take one group in the first moment for a rate of thousands', () => {
    const rate = new DrainRate();
    rate.record(8, 0);
    expect(rate.perSecond(0)).toBeLessThanOrEqual(9);
  });

  it('follows a change of pace within 20 s', () => {
    const rate = new DrainRate();
    drainSteadily(rate, 100, 0, 60);
    drainSteadily(rate, 10, 60, 80);
    expect(rate.perSecond(80_000)).toBeLessThan(25);
  });

  it('falls towards 0 during a stall', () => {
    const rate = new DrainRate();
    drainSteadily(rate, 100, 0, 10);
    expect(rate.perSecond(70_000)).toBeLessThan(1);
  });
});
