import { describe, expect, it } from '@jest/globals';
import { RetryBudget } from './retry-budget.js';
import { WorkerLostError } from './worker-lost.js';

type LossKind = WorkerLostError['kind'];

const loss = (kind: LossKind, together = 1): WorkerLostError =>
  new WorkerLostError(kind, kind, undefined, together);

const triesOf = (kind: LossKind) => {
  const budget = new RetryBudget();
  for (let tries = 1; tries < 100; tries += 1) {
    const code = budget.spend(`w${tries}`, loss(kind));
    if (code) return `${tries} ${code}`;
  }
  return 'unlimited';
};

describe('RetryBudget', () => {
  it.each<[LossKind, string]>([
    ['died', '2 worker_crashed'],
    ['disconnected', '2 worker_lost'],
    ['abandoned', '2 worker_lost'],
    ['refused', '5 worker_lost'],
    ['draining', 'unlimited'],
    ['unsent', 'unlimited'],
  ])('a request that is given back as %s is sent so often: %s', (kind, tries) => {
    expect(triesOf(kind)).toBe(tries);
  });

  it('counts losses apart from refusals, and names each worker once', () => {
    const budget = new RetryBudget();
    for (const worker of ['a', 'b', 'a'])
      expect(budget.spend(worker, loss('refused'))).toBeUndefined();
    expect([budget.spend('c', loss('died')), budget.spend('a', loss('died'))]).toEqual([
      undefined,
      'worker_crashed',
    ]);
    expect(budget.failedBy).toEqual(['a', 'b', 'c']);
  });

  it('a broken connection among two losses alone is no proof: worker_lost, which may be retried', () => {
    const budget = new RetryBudget();
    expect([budget.spend('a', loss('disconnected')), budget.spend('a', loss('died'))]).toEqual([
      undefined,
      'worker_lost',
    ]);
  });
});
