import { describe, expect, it } from '@jest/globals';
import { countsSince } from './generation-counts.js';

const sums = (steps: number, losses = 0) => ({
  ...{
    steps,
    decodeCalls: steps,
    preemptions: 0,
    prefixHitTokens: 0,
    strandedTokens: 0,
    losses,
  },
});

describe('the sums that a process reports', () => {
  it('count once each, however often they are reported', () => {
    expect(countsSince(sums(0), sums(5, 1))).toEqual(sums(5, 1));
    expect(countsSince(sums(5, 1), sums(5, 1))).toEqual(sums(0));
    expect(countsSince(sums(5, 1), sums(9, 1))).toEqual(sums(4));
  });

  it('take nothing away when an older report comes late', () => {
    expect(countsSince(sums(5), sums(4)).steps).toBe(0);
  });
});
