import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  aDispatcher,
  describePlan,
  type HarnessOptions,
  plansAt,
} from '../../../test/support/dispatcher-harness.js';
import { FakeWorkers } from '../../../test/support/fake-workers.js';
import { aKey, aRealtimeRequest, aRequest } from '../../../test/support/requests.js';
import { type PriorityQueue } from '../queue/priority-queue.js';
import { listingOf } from '../queue/queue-places.js';
import { type Dispatcher } from './dispatcher.js';

let workers: FakeWorkers;
let dispatcher: Dispatcher;
let queue: PriorityQueue;

function setUp(options: HarnessOptions = {}) {
  workers = new FakeWorkers();
  ({ dispatcher, queue } = aDispatcher(workers, options));
}

beforeEach(() => setUp());

const batch = (id: string, enqueuedAtMs = 0, model = 'm') =>
  dispatcher.submit(aRequest(id, { enqueuedAtMs, model }), enqueuedAtMs);
const realtime = (id: string, enqueuedAtMs = 0, model = 'm') =>
  dispatcher.submit(aRealtimeRequest(id, { enqueuedAtMs, model }), enqueuedAtMs);

const sentAt = (nowMs: number) => [...plansAt(dispatcher, nowMs)].map(describePlan);

describe('Dispatcher, capacity first', () => {
  it('plans nothing while no worker is there, and keeps the request waiting', () => {
    realtime('a');
    expect(sentAt(0)).toEqual([]);
    expect([queue.depth, workers.leaseCalls]).toEqual([1, []]);
  });

  it('plans nothing while no slot is free', () => {
    workers.add('m', { slots: 1, busy: true });
    batch('a');
    batch('b');
    expect(sentAt(0)).toEqual(['a ahead']);
    expect(queue.depth).toBe(1);
  });

  it('plans when a worker becomes ready', () => {
    workers.add('m', { ready: false });
    realtime('a');
    expect(sentAt(0)).toEqual([]);
    workers.setReady('m', true);
    expect(sentAt(0)).toEqual(['a single']);
  });

  it('leases once per plan, exactly as many slots as the group has members', () => {
    workers.add('m', { busy: true });
    ['a', 'b', 'c'].forEach(id => batch(id));
    expect(sentAt(0)).toEqual(['a b c ahead']);
    expect(workers.leaseCalls).toEqual([{ workerId: 'm', count: 3, credit: 'free' }]);
  });

  it('gives every member its own lease', () => {
    const worker = workers.add('m', { busy: true });
    ['a', 'b', 'c'].forEach(id => batch(id));
    const members = dispatcher.next(0)?.members ?? [];
    expect(worker.free).toBe(13);
    members[1]?.lease.release();
    members[1]?.lease.release();
    expect(worker.free).toBe(14);
  });

  it('loses nothing when leasing fails', () => {
    workers.add('m');
    realtime('a');
    workers.lease = () => {
      throw new Error('the worker is gone');
    };
    expect(() => dispatcher.next(0)).toThrow('the worker is gone');
    expect(queue.depth).toBe(1);
  });

  it('takes the least loaded of two workers', () => {
    workers.add('m', { workerId: 'w1', slots: 3 });
    workers.add('m', { workerId: 'w2', slots: 4 });
    ['a', 'b', 'c'].forEach(id => realtime(id));
    const taken = ['a', 'b', 'c'].map(() => dispatcher.next(0)?.workerId);
    expect(taken).toEqual(['w2', 'w1', 'w2']);
  });
});

describe('Dispatcher, order', () => {
  it('plans REALTIME before older BATCH', () => {
    workers.add('m', { slots: 1 });
    batch('b', 0);
    realtime('a', 5);
    expect(sentAt(100)).toEqual(['a single']);
  });

  it('plans an aged BATCH request in one turn of four beside REALTIME, alone, and says that it aged', () => {
    workers.add('m', { slots: 7 });
    ['a', 'b'].forEach(id => batch(id, 0));
    ['r', 's', 't', 'u', 'v'].forEach(id => realtime(id, 1));
    expect(sentAt(30_000)).toEqual(['r', 's', 't', 'a!', 'u', 'v', 'b!'].map(id => `${id} single`));
  });

  it('lets several aged heads go at once, one by one', () => {
    workers.add('m');
    ['a', 'b'].forEach(id => batch(id));
    batch('c', 29_000);
    expect(sentAt(30_000)).toEqual(['a! single', 'b! single', 'c ahead']);
  });

  it('is not held up by a model without a worker', () => {
    workers.add('free');
    realtime('a', 0, 'dead');
    realtime('b', 1, 'free');
    expect(sentAt(1)).toEqual(['b single']);
  });

  it('is not held up by a model whose window is open', () => {
    workers.add('open');
    workers.add('other');
    batch('a', 0, 'open');
    realtime('b', 1, 'other');
    expect(sentAt(1)).toEqual(['b single']);
  });

  it('gives every plan its own group id', () => {
    workers.add('m');
    realtime('a');
    realtime('b');
    expect([dispatcher.next(0)?.groupId, dispatcher.next(0)?.groupId]).toEqual(['g1', 'g2']);
  });
});

describe('Dispatcher, batch wait', () => {
  const waits = (nowMs: number) =>
    dispatcher.next(nowMs)?.members.map(({ batchWaitMs }) => batchWaitMs);

  it('is the time with a slot free and the window open', () => {
    workers.add('m');
    batch('a', 0);
    expect(dispatcher.next(0)).toBeUndefined();
    batch('b', 3);
    expect(dispatcher.next(3)).toBeUndefined();
    expect(waits(8)).toEqual([8, 5]);
  });

  it('is 0 for what waited for a slot only', () => {
    const worker = workers.add('m', { slots: 1 });
    realtime('a');
    const lease = dispatcher.next(0)?.members[0]?.lease;
    batch('b', 0);
    expect(dispatcher.next(0)).toBeUndefined();
    worker.busy = true;
    lease?.release();
    expect(waits(500)).toEqual([0]);
  });

  it('is 0 for REALTIME, also while a window is open', () => {
    workers.add('m');
    batch('b', 0);
    expect(dispatcher.next(0)).toBeUndefined();
    realtime('a', 2);
    expect(waits(2)).toEqual([0]);
    expect(waits(2)).toEqual([2]);
  });

  it('starts again when the worker went away in between', () => {
    workers.add('m');
    batch('a', 0);
    expect(dispatcher.next(0)).toBeUndefined();
    workers.setReady('m', false);
    expect(dispatcher.next(1)).toBeUndefined();
    workers.setReady('m', true);
    expect(waits(100)).toEqual([0]);
  });
});

describe('Dispatcher, wakes', () => {
  it('names no instant while nothing waits', () => {
    expect(dispatcher.nextWakeMs(0)).toBeUndefined();
  });

  it('names the close of the window, when no slot is free the promotion, and then the deadline', () => {
    workers.add('m');
    batch('a', 10);
    expect(dispatcher.nextWakeMs(10)).toBe(15);
    workers.setReady('m', false);
    expect(dispatcher.nextWakeMs(10)).toBe(30_010);
    expect(dispatcher.queue.aged(30_010).map(({ id }) => id)).toEqual(['a']);
    expect(dispatcher.nextWakeMs(30_010)).toBe(120_010);
  });

  it('names now when something may go now', () => {
    workers.add('m');
    realtime('a', 10);
    expect(dispatcher.nextWakeMs(20)).toBe(20);
  });
});

describe('Dispatcher, admission', () => {
  it('refuses over the bound with queue_full, 429 and a time to come back', () => {
    setUp({ bounds: { maxRequestsPerModel: 1 } });
    expect(batch('a')).toBeUndefined();
    expect(batch('b')).toMatchObject({ code: 'queue_full', retryAfterMs: 5_000 });
    expect([queue.depth, queue.get(aKey('b')) !== undefined]).toEqual([1, false]);
  });

  it('computes the time from what it dispatched: 10 per second, 100 waiting', () => {
    setUp({ bounds: { maxRequests: 100 } });
    workers.add('m', { slots: 1_000_000 });
    for (let index = 0; index < 300; index += 1) {
      realtime(`r${index}`, index * 100);
      expect(sentAt(index * 100)).toHaveLength(1);
    }
    workers.setReady('m', false);
    for (let index = 0; index < 100; index += 1) realtime(`q${index}`, 30_000);
    const refused = realtime('last', 30_000);
    const retryAfterMs = refused?.retryAfterMs ?? 0;
    expect(retryAfterMs).toBeGreaterThan(9_000);
    expect(retryAfterMs).toBeLessThan(11_000);
  });

  it('takes a re-queued request back over the bound: it was accepted before', () => {
    setUp({ bounds: { maxRequestsPerModel: 1 } });
    workers.add('m', { slots: 1 });
    realtime('a');
    const [lost] = dispatcher.next(0)?.members ?? [];
    realtime('b', 1);
    if (lost !== undefined) dispatcher.queue.restore(lost.request);
    expect(listingOf(queue, 2).map(({ request }) => request.id)).toEqual(['a', 'b']);
  });
});

const AGING_MS = 30_000;
const LATE_MS = AGING_MS + 10;

function tenants(slots: number) {
  setUp({ agingMs: AGING_MS });
  workers.add('m', { slots, maxBatch: 4, overdraft: 0, busy: true });
  /** Requests of the tenant that their letter names, 1 ms apart. */
  const enqueue = (ids: readonly string[], fromMs = 0) =>
    ids.forEach((id, ms) =>
      queue.enqueue(aRequest(id, { tenant: id[0], enqueuedAtMs: fromMs + ms })),
    );
  return { plans: sentAt, enqueue };
}

describe('Dispatcher with several tenants', () => {
  it('takes a group of BATCH from all tenants in turn', () => {
    const { plans, enqueue } = tenants(6);
    enqueue(['a1', 'a2', 'a3', 'a4']);
    enqueue(['b1', 'b2'], 10);
    expect(plans(20)).toEqual(['a1 b1 a2 b2 ahead', 'a3 a4 ahead']);
  });

  it('beside aged requests of one tenant, young ones of another keep their turns, one by one and not as aged', () => {
    const { plans, enqueue } = tenants(4);
    enqueue(['a1', 'a2', 'a3']);
    enqueue(['b1', 'b2'], LATE_MS - 5);
    expect(plans(LATE_MS)).toEqual(['a1! single', 'b1 single', 'a2! single', 'b2 single']);
  });

  it('a young BATCH request gets none of the turns beside REALTIME, whoever had least', () => {
    const { plans, enqueue } = tenants(5);
    enqueue(['a1', 'a2']);
    enqueue(['b1'], LATE_MS - 5);
    ['R', 'S', 'T', 'U'].forEach((id, ms) =>
      queue.enqueue(aRealtimeRequest(id, { tenant: 'c', enqueuedAtMs: LATE_MS - 4 + ms })),
    );
    expect(plans(LATE_MS)).toEqual(['R single', 'S single', 'T single', 'a1! single', 'U single']);
  });

  it('a tenant under suspicion comes after all others until its request has aged, then in its turn', () => {
    const { plans, enqueue } = tenants(4);
    enqueue(['s1']);
    queue.suspect('m', 's');
    enqueue(['a1'], 5);
    expect(plans(60)).toEqual(['a1 ahead']);
    expect(queue.get(aKey('s1', 's'))).toMatchObject({ mostTogether: 1, yields: true });
    enqueue(['a2'], LATE_MS - 2);
    expect(plans(LATE_MS)).toEqual([]);
  });

  it('of a tenant under suspicion one request runs at a time', () => {
    const { plans, enqueue } = tenants(4);
    enqueue(['s1', 's2']);
    queue.suspect('m', 's');
    expect(plans(60)).toEqual(['s1 ahead']);
  });
});
