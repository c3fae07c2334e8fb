import { describe, expect, it } from '@jest/globals';
import { messageAllowance } from './live-feed.gateway.js';

describe('MessageAllowance', () => {
  it('lets a burst of 3 through, then 2 per second, and never saves up more than the burst', () => {
    const refusals = messageAllowance({ limit: 3, periodMs: 1500 });
    const taken = (...atMs: number[]) => atMs.map(at => refusals(at) === 0);
    expect(taken(0, 0, 0, 0)).toEqual([true, true, true, false]);
    expect(taken(499, 500, 500)).toEqual([false, true, false]);
    expect(taken(60_000, 60_000, 60_000, 60_000)).toEqual([true, true, true, false]);
  });

  it('counts refusals until one is taken', () => {
    const refusals = messageAllowance({ limit: 1, periodMs: 1000 });
    for (let i = 0; i < 4; i++) refusals(0);
    expect(refusals(0)).toBe(4);
    expect(refusals(2000)).toBe(0);
  });
});
