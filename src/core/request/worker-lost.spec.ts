import { describe, expect, it } from '@jest/globals';
import { type LossKind, RetryBudget } from './worker-lost.js';

const triesOf = (kind: LossKind): number => {
  const budget = new RetryBudget();
  for (let tries = 1; tries < 100; tries += 1) if (!budget.spend(`w${tries}`, kind)) return tries;
  return Infinity;
};

describe('RetryBudget', () => {
  it.each<[LossKind, number]>([
    ['disconnected', 2],
    ['refused', 5],
    ['draining', Infinity],
    ['unsent', Infinity],
  ])('a request that is given back as %s is sent %d times at most', (kind, tries) => {
    expect(triesOf(kind)).toBe(tries);
  });

  it('counts losses apart from refusals, and names each worker once', () => {
    const budget = new RetryBudget();
    expect(['a', 'b', 'a'].map(worker => budget.spend(worker, 'refused'))).toEqual([true, true, true]);
    expect([budget.spend('c', 'disconnected'), budget.spend('a', 'disconnected')]).toEqual([true, false]);
    expect(budget.failedBy).toEqual(['a', 'b', 'c']);
  });
});
