import { describe, expect, it } from '@jest/globals';
import { MessageAllowance } from './live-clients.js';

describe('MessageAllowance', () => {
  it('lets a burst of 3 through, then 2 per second, and never saves up more than the burst', () => {
    const allowance = new MessageAllowance({ limit: 3, periodMs: 1500 });
    const taken = (...atMs: number[]) => atMs.map(at => allowance.take(at));
    expect(taken(0, 0, 0, 0)).toEqual([true, true, true, false]);
    expect(taken(499, 500, 500)).toEqual([false, true, false]);
    expect(taken(60_000, 60_000, 60_000, 60_000)).toEqual([true, true, true, false]);
  });

  it('counts refusals until one is taken', () => {
    const allowance = new MessageAllowance({ limit: 1, periodMs: 1000 });
    for (let i = 0; i < 5; i++) allowance.take(0);
    expect(allowance.refused).toBe(4);
    allowance.take(2000);
    expect(allowance.refused).toBe(0);
  });
});
