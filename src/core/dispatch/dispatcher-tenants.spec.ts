import { describe, expect, it } from '@jest/globals';
import { aDispatcher, describePlan, plansAt } from '../../../test/support/dispatcher-harness.js';
import { FakeWorkers } from '../../../test/support/fake-workers.js';
import { aKey, aRealtimeRequest, aRequest } from '../../../test/support/requests.js';

const AGING_MS = 30_000;
const LATE_MS = AGING_MS + 10;

function harness(slots: number) {
  const workers = new FakeWorkers();
  workers.add('m', { slots, maxBatch: 4, overdraft: 0, busy: true });
  const core = aDispatcher(workers, { agingMs: AGING_MS });
  const plans = (nowMs: number) => [...plansAt(core.dispatcher, nowMs)].map(describePlan);
  /** Requests of the tenant that their letter names, 1 ms apart. */
  const enqueue = (ids: readonly string[], fromMs = 0) =>
    ids.forEach((id, ms) =>
      core.queue.enqueue(aRequest(id, { tenant: id[0], enqueuedAtMs: fromMs + ms })),
    );
  return { ...core, plans, enqueue };
}

describe('Dispatcher with several tenants', () => {
  it('takes a group of BATCH from all tenants in turn', () => {
    const { plans, enqueue } = harness(6);
    enqueue(['a1', 'a2', 'a3', 'a4']);
    enqueue(['b1', 'b2'], 10);
    expect(plans(20)).toEqual(['a1 b1 a2 b2 ahead', 'a3 a4 ahead']);
  });

  it('beside aged requests of one tenant, young ones of another keep their turns, one by one and not as aged', () => {
    const { plans, enqueue } = harness(4);
    enqueue(['a1', 'a2', 'a3']);
    enqueue(['b1', 'b2'], LATE_MS - 5);
    expect(plans(LATE_MS)).toEqual(['a1! single', 'b1 single', 'a2! single', 'b2 single']);
  });

  it('a young BATCH request gets none of the turns beside REALTIME, whoever had least', () => {
    const { queue, plans, enqueue } = harness(5);
    enqueue(['a1', 'a2']);
    enqueue(['b1'], LATE_MS - 5);
    ['R', 'S', 'T', 'U'].forEach((id, ms) =>
      queue.enqueue(aRealtimeRequest(id, { tenant: 'c', enqueuedAtMs: LATE_MS - 4 + ms })),
    );
    expect(plans(LATE_MS)).toEqual(['R single', 'S single', 'T single', 'a1! single', 'U single']);
  });

  it('a tenant under suspicion comes after all others until its request has aged, then in its turn', () => {
    const { queue, plans, enqueue } = harness(4);
    enqueue(['s1']);
    queue.suspect('m', 's');
    enqueue(['a1'], 5);
    expect(plans(60)).toEqual(['a1 ahead']);
    expect(queue.get(aKey('s1', 's'))).toMatchObject({ mostTogether: 1, yields: true });
    enqueue(['a2'], LATE_MS - 2);
    expect(plans(LATE_MS)).toEqual([]);
  });

  it('of a tenant under suspicion one request runs at a time', () => {
    const { queue, plans, enqueue } = harness(4);
    enqueue(['s1', 's2']);
    queue.suspect('m', 's');
    expect(plans(60)).toEqual(['s1 ahead']);
  });
});
