import { beforeEach, describe, expect, it } from '@jest/globals';
import { aKey } from '../../../test/support/requests.js';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { type Elsewhere } from '../../core/forecast/forecast-view.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { listingOf } from '../../core/queue/queue-places.js';
import { priorityLabel, RequestPriority } from '../../core/request/request-priority.js';
import { RequestRecord } from '../../core/request/request-record.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type WorkerView } from '../worker-pool/worker-view.js';
import { Forecasts } from './forecasts.js';

const WORKER = { id: 'w', slots: 1, overdraft: 0, maxBatch: 1, parallel: 1 };
const SERVICE_MS = 1000;

let queue: PriorityQueue;
let records: Map<string, RequestRecord>;
let forecaster: Forecasts;
let nowMs = 0;
let workers: readonly (typeof WORKER)[];
let elsewhere: Elsewhere | undefined;

beforeEach(() => {
  nowMs = 0;
  elsewhere = undefined;
  queue = new PriorityQueue({ agingMs: 30_000, agingShare: 0.25 });
  workers = [WORKER];
  records = new Map();
  forecaster = new Forecasts({
    queue,
    times: new ServiceTimes(),
    workers: () => workers,
    choose: ([first]) => first,
    record: key => records.get(key),
    running: () => [...records.values()].filter(({ state }) => state === 'leased'),
    admission: { drainMs: () => 40_000 } as unknown as Admission,
    nowMs: () => nowMs,
    elsewhere: () => elsewhere,
    window: new BatchWindow({ policy: 'none', maxSize: 1, windowMs: 0, quietGapMs: 0 }),
  });
});

type Fields<T extends DispatchEvent['type']> = Partial<Extract<DispatchEvent, { type: T }>> & {
  readonly type: T;
};

function apply<T extends DispatchEvent['type']>(
  request: ScheduledRequest,
  atMs: number,
  fields: Fields<T>,
): void {
  const { key, id: requestId, model, tenant } = request;
  const base = {
    key,
    requestId,
    model,
    tenant,
    priority: priorityLabel(request.priority),
    atMs,
  };
  const event = { ...base, ...fields } as unknown as DispatchEvent;
  forecaster.apply(event);
}

function came(id: string, atMs: number, changes: Partial<ScheduledRequest> = {}): ScheduledRequest {
  const request = {
    id,
    key: aKey(id, changes.tenant ?? 'a'),
    model: 'm',
    priority: RequestPriority.BATCH,
    tenant: 'a',
    bytes: 1,
    costMs: 10,
    enqueuedAtMs: atMs,
    queueDeadlineMs: Infinity,
    inferenceTimeoutMs: 1000,
    ...changes,
    payload: undefined,
  };
  queue.enqueue(request);
  records.set(request.key, new RequestRecord(request));
  apply(request, atMs, { type: 'accepted', bytes: 1 });
  return request;
}

function leased(request: ScheduledRequest, atMs: number): void {
  queue.remove(request.key);
  records.get(request.key)?.leased('w', atMs);
  const queueWaitMs = atMs - request.enqueuedAtMs;
  apply(request, atMs, {
    type: 'leased',
    workerId: 'w',
    reason: 'single',
    attempt: 1,
    queueWaitMs,
  });
}

/** One request was answered, long ago. */
function answered(): void {
  const first = came('first', 0);
  leased(first, 0);
  const phases = { grpcMs: SERVICE_MS, readyMs: 0, totalMs: SERVICE_MS };
  apply(first, SERVICE_MS, {
    type: 'settled',
    status: 'completed',
    phases,
    batchSize: 1,
    attempts: 1,
  });
  records.delete(first.key);
}

/** The same, and another one is at the worker since `atMs`. */
function busySince(atMs: number): void {
  answered();
  leased(came('running', atMs), atMs);
}

/** As if it were listed with all that wait in this gateway. */
function explain(id: string, atMs: number) {
  const queued = listingOf(queue, atMs).map(({ request, position }) => ({
    id: request.id,
    tenant: request.tenant,
    model: 'm',
    position,
    priority: priorityLabel(request.priority),
    waitedMs: atMs - request.enqueuedAtMs,
  }));
  const sent = { id, tenant: 'a', model: 'm', priority: 'batch', waitedMs: 0 } as const;
  return forecaster.explain(queued.find(view => view.id === id) ?? sent, queued, atMs);
}

const startOf = (id: string, nowMs: number): number | undefined =>
  forecaster.of(aKey(id, 'a'), nowMs)?.startInMs.p50;

describe('Forecaster', () => {
  it('knows nothing before the first answer, or without a worker', () => {
    came('x', 0);
    expect(startOf('x', 0)).toBeUndefined();
    queue.remove(aKey('x', 'a'));
    busySince(100_000);
    came('y', 100_100);
    workers = [];
    expect(startOf('y', 200_000)).toBeUndefined();
  });

  it('knows it as soon as there is a worker again, however short ago it was asked without one', () => {
    busySince(100_000);
    came('x', 100_100);
    workers = [];
    expect(startOf('x', 100_400)).toBeUndefined();
    workers = [WORKER];
    expect(startOf('x', 100_401)).toBe(599);
  });

  it('wants as many replicas as keep the deadlines of what waits, also without one that is up', () => {
    nowMs = 200_000;
    expect(forecaster.replicasWanted('m', 10_000)).toBeUndefined();
    answered();
    expect(forecaster.replicasWanted('m', 10_000)).toBeLessThanOrEqual(1);
    // 1 s of work each: 10 of them start within the 10 s of the target on one replica.
    for (let at = 0; at < 31; at++) came(`w${at}`, nowMs);
    expect(forecaster.replicasWanted('m', 10_000)).toBeGreaterThanOrEqual(3);
    workers = [];
    came('urgent', nowMs, { priority: RequestPriority.REALTIME, latestStartMs: nowMs + 10 });
    came('urgent too', nowMs, { priority: RequestPriority.REALTIME, latestStartMs: nowMs + 10 });
    expect(forecaster.replicasWanted('m', 10_000)).toBeGreaterThanOrEqual(3);
  });

  it('knows of what is pulled only how fast it leaves: 40 s on two busy replicas want eight', () => {
    const slots = { total: 4, free: 0, inUse: 4 };
    const one = { model: 'm', state: 'busy', slots } as WorkerView;
    expect(forecaster.pullingWanted({ model: 'm', waiting: 80 }, [one, one], 10_000)).toBe(8);
    expect(forecaster.pullingWanted({ model: 'm', waiting: 80 }, [], 10_000)).toBeUndefined();
  });

  it('lets requests start one after the other, when the worker is done with the one before', () => {
    busySince(100_000);
    for (const id of ['x', 'y', 'z']) came(id, 100_100);
    expect(['x', 'y', 'z'].map(id => startOf(id, 100_400))).toEqual([600, 1600, 2600]);
  });

  it('is not judged by what it said before a request changed its priority', () => {
    busySince(100_000);
    came('before', 100_050);
    const request = came('x', 100_100);
    expect(records.get(request.key)?.forecast).toBeDefined();
    apply(request, 100_200, { type: 'reprioritized' });
    expect(records.get(request.key)?.forecast).toBeUndefined();
  });

  it('sees a burst that takes every slot at once', () => {
    answered();
    forecaster.ofNew({ model: 'm', priority: RequestPriority.BATCH, costMs: 1 }, 100_000);
    leased(came('a', 100_001), 100_001);
    came('x', 100_002);
    expect(startOf('x', 100_002)).toBe(999);
  });

  it('says of a request that is not queued what it says when it is', () => {
    busySince(100_000);
    came('x', 100_100);
    const request = {
      model: 'm',
      priority: RequestPriority.BATCH,
      tenant: 'a',
      costMs: 10,
    };
    const before = forecaster.ofNew(request, 100_400);
    came('y', 100_400);
    expect(before?.startInMs.p50).toBe(1600);
    expect(startOf('y', 100_400)).toBe(1600);
  });

  it('lets another tenant go first that has waited for less, and REALTIME before all', () => {
    busySince(100_000);
    for (const id of ['x', 'y', 'z']) came(id, 100_100);
    const of = (changes: Partial<ScheduledRequest>): number | undefined =>
      forecaster.ofNew(
        { model: 'm', priority: RequestPriority.BATCH, costMs: 10, ...changes },
        100_400,
      )?.startInMs.p50;
    expect([of({ tenant: 'a' }), of({ tenant: 'b' })]).toEqual([3600, 600]);
    expect(of({ tenant: 'a', priority: RequestPriority.REALTIME })).toBe(600);
  });

  it('tells when a running request is done', () => {
    busySince(100_000);
    expect(forecaster.of(aKey('running', 'a'), 100_400)).toMatchObject({
      startInMs: { p50: 0 },
      endInMs: { p50: 600 },
    });
  });

  it('explains by reason what is ahead, what went before, and what would help', () => {
    busySince(100_000);
    const realtime = came('quick', 100_200, {
      priority: RequestPriority.REALTIME,
      tenant: 'b',
    });
    came('older', 100_100);
    const mine = came('mine', 100_150);
    leased(realtime, 100_300);
    came('fair', 100_350, { tenant: 'b' });
    expect(explain('mine', 100_400)).toMatchObject({
      ahead: {
        requests: 2,
        own: 1,
        otherTenants: 1,
        by: { priority: 0, age: 1, fairness: 1 },
      },
      passed: { requests: 1, own: 0, otherTenants: 1, by: { priority: 1 } },
      slots: { inUse: 2, total: 1 },
      changes: [{ change: 'realtime_priority' }, { change: 'one_more_worker' }],
    });
    leased(mine, 100_500);
    expect(explain('mine', 100_500)).toMatchObject({
      passed: { requests: 1 },
      changes: [],
    });
  });

  it('forgets what has ended', () => {
    busySince(100_000);
    const x = came('x', 100_100);
    queue.remove(x.key);
    apply(x, 100_200, { type: 'settled', status: 'cancelled', phases: {}, attempts: 0 });
    records.delete(x.key);
    expect([startOf('x', 100_300), explain('x', 100_300)]).toEqual([undefined, undefined]);
  });
});

describe('Forecaster, of an order that gateways share', () => {
  const batch = { model: 'm', priority: RequestPriority.BATCH, costMs: 10 };

  it('counts what waits and runs at all of them, and says so', () => {
    workers = [{ ...WORKER, slots: 4 }];
    answered();
    elsewhere = { realtime: 2, batch: 5, running: 4 };
    for (const id of ['x', 'y']) came(id, 100_000);
    // Of 1 s each on four slots: nine before it, and those of its class and above before REALTIME.
    expect(forecaster.ofNew(batch, 100_100)).toMatchObject({
      startInMs: { p50: 2500 },
      endInMs: { p50: 3500 },
      basis: 'drain_rate',
    });
    const urgent = { ...batch, priority: RequestPriority.REALTIME };
    expect(forecaster.ofNew(urgent, 100_100)?.startInMs.p50).toBe(750);
    // Its queue knows its place among its own: as many of the others go before each of them.
    expect([startOf('x', 100_100), startOf('y', 100_100)]).toEqual([1250, 2250]);
    expect(forecaster.of(aKey('y', 'a'), 100_100, 3)?.startInMs.p50).toBe(750);
    expect(explain('y', 100_100)).toMatchObject({
      slots: { inUse: 4, total: 4 },
      changes: [{ change: 'one_more_worker', startInMs: { p50: 0 } }],
    });
  });

  it('knows what another gateway has by its place', () => {
    answered();
    elsewhere = { realtime: 0, batch: 3, running: 1 };
    const view = { id: 'theirs', model: 'm', priority: 'batch', state: 'queued' } as const;
    const rest = { aged: false, createdAtMs: 0, waitedMs: 5, attempts: 0, phases: {} };
    const listed = [1, 2, 3].map(position => ({ ...view, ...rest, id: `n${position}`, position }));
    expect(forecaster.ofView(listed[2]!)).toMatchObject({
      startInMs: { p50: 3000 },
      basis: 'drain_rate',
    });
    expect(forecaster.explain(listed[2]!, listed)).toMatchObject({ ahead: { requests: 2 } });
  });

  it('starts at once what finds a slot free, and wants replicas for all that waits', () => {
    workers = [{ ...WORKER, slots: 4 }];
    answered();
    elsewhere = { realtime: 0, batch: 0, running: 3 };
    expect(forecaster.ofNew(batch, 100_100)?.startInMs.p50).toBe(0);
    elsewhere = { realtime: 0, batch: 120, running: 4 };
    // 30 s of work, to be started within 10 s.
    expect(forecaster.replicasWanted('m', 10_000)).toBe(3);
  });
});
