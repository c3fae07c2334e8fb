import { describe, expect, it } from '@jest/globals';
import { RetryBudget, suspected, UNSUSPECTED, faultOf, WorkerLostError } from './worker-lost.js';

type LossKind = WorkerLostError['kind'];

const loss = (kind: LossKind, together = 1): WorkerLostError =>
  new WorkerLostError(kind, kind, undefined, together);

const triesOf = (kind: LossKind): string => {
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

describe('a suspect', () => {
  /**
   * Groups that a poisoned request is part of until it fails, when each is as large as
   * it may be.
   */
  const groups = (first: number): number[] => {
    const sizes = [first];
    for (let suspicion = suspected(UNSUSPECTED, first, true); faultOf(suspicion) === undefined;) {
      const size = suspicion.mostTogether!;
      sizes.push(size);
      suspicion = suspected(suspicion, size, true);
    }
    return sizes;
  };

  it('is tried in half a group, then alone, and fails when it was lost alone twice', () => {
    expect(groups(24)).toEqual([24, 12, 1, 1]);
    expect(groups(3)).toEqual([3, 1, 1]);
    expect(groups(2)).toEqual([2, 1, 1]);
    expect(groups(1)).toEqual([1, 1]);
  });

  it('does not fail for losses in company, and is alone after two of them', () => {
    let suspicion = UNSUSPECTED;
    for (const together of [24, 12]) suspicion = suspected(suspicion, together, true);
    expect([suspicion.mostTogether, faultOf(suspicion)]).toEqual([1, undefined]);
  });
});
