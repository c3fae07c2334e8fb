import { describe, expect, it } from '@jest/globals';
import { GenerationTotals } from './worker-connection.js';

const sums = (steps: number, losses = 0) => ({
  ...{ steps, decodeCalls: steps, preemptions: 0, prefixHitTokens: 0, strandedTokens: 0, losses },
});

describe('the sums that a process reports', () => {
  it('count once each, however often they are reported', () => {
    const totals = new GenerationTotals();
    expect(totals.since(sums(5, 1))).toEqual(sums(5, 1));
    expect(totals.since(sums(5, 1))).toEqual(sums(0));
    expect(totals.since(sums(9, 1))).toEqual(sums(4));
  });

  it('take nothing away when an older report comes late', () => {
    const totals = new GenerationTotals();
    totals.since(sums(5));
    expect(totals.since(sums(4)).steps).toBe(0);
  });
});
