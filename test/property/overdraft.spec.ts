import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from '../../src/core/dispatch/dispatcher.js';
import { aDispatcher, describePlan, type Plan, plansAt } from '../support/dispatcher-harness.js';
import { type FakeWorker, FakeWorkers } from '../support/fake-workers.js';
import { aRealtimeRequest, aRequest } from '../support/requests.js';

const AGED_MS = 30_000;
const DEADLINE_MS = 120_000;

let workers: FakeWorkers;
let worker: FakeWorker;
let dispatcher: Dispatcher;
let running: Plan[];

const batch = (id: string, enqueuedAtMs = 0, model = 'm') =>
  dispatcher.submit(aRequest(id, { enqueuedAtMs, model }), enqueuedAtMs);
const realtime = (id: string, enqueuedAtMs = 0, model = 'm') =>
  dispatcher.submit(aRealtimeRequest(id, { enqueuedAtMs, model }), enqueuedAtMs);

function sentAt(nowMs: number) {
  const plans = [...plansAt(dispatcher, nowMs)];
  running.push(...plans);
  return plans.map(describePlan);
}

/** The worker lets go of a request. */
const end = (id: string) =>
  running
    .flatMap(({ members }) => members)
    .find(({ request }) => request.id === id)
    ?.lease.release();

function setUp(agingShare?: number) {
  workers = new FakeWorkers();
  ({ dispatcher } = aDispatcher(workers, { agingShare }));
  running = [];
  worker = workers.add('m', { slots: 4, maxBatch: 2, busy: true });
  ['a', 'b', 'c', 'd'].forEach(id => batch(id));
  expect(sentAt(0)).toEqual(['a b ahead', 'c d ahead']);
}

beforeEach(() => setUp());

describe('Dispatcher, a worker full of BATCH', () => {
  it('gives REALTIME one group more than the slots, and no further', () => {
    ['r', 's', 't'].forEach(id => realtime(id));
    expect(sentAt(0)).toEqual(['r single', 's single']);
    expect([worker.inUse, worker.free, worker.urgent]).toEqual([6, 0, 0]);
    expect(workers.leaseCalls.at(-1)).toEqual({ workerId: 'm', count: 1, credit: 'urgent' });
  });

  it('gives BATCH nothing more, young or aged, and needs no timer but that of its promotion', () => {
    ['e', 'f'].forEach(id => batch(id));
    expect(sentAt(0)).toEqual([]);
    expect(dispatcher.nextWakeMs(0)).toBe(AGED_MS);
    expect(sentAt(AGED_MS)).toEqual([]);
    expect(dispatcher.nextWakeMs(AGED_MS)).toBe(DEADLINE_MS);
  });

  it('gives BATCH nothing more while draining', () => {
    batch('e');
    dispatcher.draining();
    expect(sentAt(0)).toEqual([]);
  });

  it('has the overdraft paid back before BATCH gets a slot', () => {
    realtime('r');
    batch('e');
    expect(sentAt(0)).toEqual(['r single']);
    end('a');
    expect(sentAt(20)).toEqual([]);
    end('b');
    expect(sentAt(20)).toEqual(['e ahead']);
  });

  it('lets REALTIME go before BATCH that came earlier and has not aged', () => {
    batch('e', 0);
    realtime('r', 10);
    expect(sentAt(AGED_MS - 1)).toEqual(['r single']);
  });

  it('holds REALTIME back for the fourth turn, which is the aged one, and does not spin for it', () => {
    workers.add('m', { workerId: 'other', slots: 2, maxBatch: 2, busy: true });
    ['e', 'f'].forEach(id => batch(id, 0));
    ['r', 's', 't', 'u', 'v'].forEach(id => realtime(id, 10));
    expect(sentAt(AGED_MS)).toEqual(['r single', 's single', 't single']);
    expect(dispatcher.nextWakeMs(AGED_MS)).toBe(DEADLINE_MS);
    ['r', 's', 't'].forEach(end);
    expect(sentAt(AGED_MS)).toEqual(['e! single', 'u single', 'v single']);
  });

  it('lets REALTIME overdraw beside aged BATCH while it is its turn', () => {
    batch('e', 0);
    realtime('r', 10);
    expect(sentAt(AGED_MS)).toEqual(['r single']);
  });

  describe('with a share of 1', () => {
    beforeEach(() => setUp(1));

    it('lets no REALTIME overtake BATCH that has aged, and does not spin for it', () => {
      batch('e', 0);
      realtime('r', 10);
      expect(sentAt(AGED_MS)).toEqual([]);
      expect(dispatcher.nextWakeMs(AGED_MS)).toBe(DEADLINE_MS);
      end('a');
      expect(sentAt(AGED_MS)).toEqual(['e! single', 'r single']);
    });

    it('lets REALTIME go that is older than the aged BATCH', () => {
      batch('e', 10);
      realtime('r', 5);
      expect(sentAt(AGED_MS + 10)).toEqual(['r single']);
    });
  });

  it('holds up no other model', () => {
    workers.add('n', { busy: true });
    batch('e', 0);
    batch('x', 1, 'n');
    realtime('y', 2, 'n');
    expect(sentAt(AGED_MS + 1)).toEqual(['y single', 'x! single']);
  });

  it('overdraws no worker while another has a free slot', () => {
    workers.add('m', { workerId: 'second', slots: 1, maxBatch: 1, busy: true });
    ['r', 's'].forEach(id => realtime(id));
    expect(sentAt(0)).toEqual(['r single', 's single']);
    expect(running.slice(-2).map(({ workerId }) => workerId)).toEqual(['second', 'm']);
  });

  it('does not blame the window for waiting until the overdraft is paid back', () => {
    worker.busy = false;
    batch('e', 0);
    realtime('r', 0);
    expect(sentAt(0)).toEqual(['r single']);
    ['a', 'b', 'c', 'd', 'r'].forEach(end);
    expect(dispatcher.next(500)?.members.map(({ batchWaitMs }) => batchWaitMs)).toEqual([0]);
  });
});
