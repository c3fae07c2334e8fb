import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER, Subject } from 'rxjs';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aKey, aRealtimeRequest, aRef, aRequest } from '../../../test/support/requests.js';
import { type WindowTimers } from '../../core/batching/window-timers.js';
import { type Dispatcher } from '../../core/dispatch/dispatcher.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { type TextPlaces } from '../shared-queue/text-places.js';
import { EmbeddedQueue } from './embedded-queue.js';

const { BATCH, REALTIME } = RequestPriority;
const LOAD = { device: 'gpu0', inMs: 1500, leaving: [] };
const AGING_MS = 30_000;

/** What is known of the one model and its workers. */
const KNOWN = {
  hasReady: true,
  hasSlot: true,
  isAway: false,
  isPlaced: false,
  loadedBy: undefined as string | undefined,
  state: 'absent',
};

/** A queue with one request, which has waited for `ageMs`. */
function queueWith(known: Partial<typeof KNOWN>, priority: RequestPriority = BATCH, ageMs = 0) {
  const { hasReady, hasSlot, isAway, isPlaced, loadedBy, state } = { ...KNOWN, ...known };
  const queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25 });
  const registry = aRegistry();
  const pool = {
    of: () => ({ hasReady, isPlaced, view: () => ({ state }) }),
    offer: () => hasSlot && { free: [{}], urgent: [{}] },
  };
  const embedded = new EmbeddedQueue(
    { queue } as Dispatcher,
    registry,
    { nowMs: () => ageMs },
    {} as WindowTimers,
    [],
    { pool, elsewhere: () => undefined, reprioritized$: NEVER } as unknown as TextPlaces,
  );
  const swaps = { isAway: () => isAway, expected: () => LOAD, loadedBy };
  Object.assign(embedded, { swaps });
  queue.enqueue(aRequest('r', { priority }));
  opened(registry, 'r', { priority });
  return embedded;
}

it.each([
  ['worker', {}, { hasReady: false }, undefined],
  ['device', {}, { hasReady: false, isAway: true }, LOAD],
  ['slot', {}, { hasSlot: false }, undefined],
  ['window', {}, {}, undefined],
  ['turn', { ageMs: AGING_MS }, {}, undefined],
  ['turn', { priority: REALTIME }, {}, undefined],
])(
  'a request waits for its %s: %j, %j',
  (waitsFor, { priority, ageMs }: { priority?: RequestPriority; ageMs?: number }, known, load) => {
    const [view] = queueWith(known, priority, ageMs).list();
    expect([view?.waitsFor, view?.load]).toEqual([waitsFor, load]);
  },
);

it.each([
  [{}, undefined],
  [{ isAway: true }, { text: expect.stringContaining('in about 2 s'), inMs: 1500 }],
  [{ isPlaced: true, loadedBy: 'gw_2' }, { text: expect.stringContaining('gw_2 loads it') }],
  [{ isPlaced: true, loadedBy: 'gw_2', state: 'loaded' }, undefined],
  [{ isPlaced: true }, undefined],
  [{ loadedBy: 'gw_2' }, undefined],
])('of a model with %j is awaited %j', (known, awaited) => {
  expect(queueWith(known).awaited('m', BATCH)).toEqual(awaited);
});

describe('the queue of this process', () => {
  let nowMs: number;
  let queue: PriorityQueue;
  let registry: RequestRegistry;
  let elsewhere: { realtime: number; batch: number; running: number } | undefined;
  let due$: Subject<void>;
  let wakes$: Subject<void>;
  let reprioritized$: Subject<object>;
  const dispatcher = {
    isIdle: jest.fn(),
    startInMs: jest.fn(),
    submit: jest.fn(),
    next: jest.fn(),
    nextWakeMs: jest.fn(),
    draining: jest.fn(),
  };
  const timers = { wakeAt: jest.fn(), stop: jest.fn() };
  const pool = { of: jest.fn(), offer: jest.fn(), cancel: jest.fn() };
  let plans: string[];
  let embedded: EmbeddedQueue;

  beforeEach(() => {
    for (const part of [dispatcher, timers, pool])
      for (const mock of Object.values(part)) mock.mockReset();
    [nowMs, elsewhere, plans, registry] = [0, undefined, [], aRegistry()];
    [due$, wakes$, reprioritized$] = [new Subject(), new Subject(), new Subject()];
    queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25 });
    const parts = [
      { ...dispatcher, queue },
      registry,
      { nowMs: () => nowMs },
      { ...timers, wakes$ },
      [{ id: 'm' }, { id: 'n' }],
      { pool, elsewhere: () => elsewhere, reprioritized$, due$, plans: () => plans },
    ];
    embedded = new EmbeddedQueue(
      ...(parts as unknown as ConstructorParameters<typeof EmbeddedQueue>),
    );
    const swaps = { isAway: () => false, expected: () => LOAD, loadedBy: undefined };
    Object.assign(embedded, { swaps });
  });

  const waits = (id: string, fields = {}): void => {
    queue.enqueue(aRequest(id, fields));
    Object.assign(opened(registry, id, fields), { queue: embedded });
  };

  it('has a turn: tells what aged and expired, sends what may go, and sets its timer', () => {
    for (const id of ['old', 'late', 'next'])
      waits(id, id === 'late' ? { queueDeadlineMs: 1 } : {});
    const told: string[] = [];
    embedded.aged$.subscribe(key => told.push(`aged ${key}`));
    embedded.expired$.subscribe(key => told.push(`expired ${key}`));
    plans = ['placed'];
    dispatcher.next.mockReturnValueOnce('one');
    dispatcher.nextWakeMs.mockReturnValue(99);
    nowMs = AGING_MS;
    expect([...embedded.plans()]).toEqual(['placed', 'one']);
    expect(told).toContain(`expired ${aKey('late')}`);
    expect(told).toContain(`aged ${aKey('old')}`);
    expect([dispatcher.next.mock.calls.length, timers.wakeAt.mock.calls]).toEqual([2, [[99]]]);
  });

  it('asks for a turn by time and by places, until that is stopped', () => {
    const due = jest.fn();
    embedded.due$.subscribe(due);
    due$.next();
    wakes$.next();
    expect(due).toHaveBeenCalledTimes(2);
    embedded.stopTimer();
    embedded.closeWindows();
    expect([timers.stop.mock.calls.length, dispatcher.draining.mock.calls.length]).toEqual([1, 1]);
    expect([...embedded.plans(), dispatcher.next.mock.calls.length]).toEqual([0]);
  });

  const none = { realtime: 0, batch: 0, running: 0 };
  it.each([
    [none, [], true, true],
    [none, [], false, false],
    [{ ...none, running: 1 }, [], true, false],
    [{ ...none, batch: 1 }, [], true, false],
    [{ ...none, realtime: 1 }, [], true, false],
    [none, ['r'], true, false],
    [{ ...none, running: 1 }, ['r'], true, false],
  ])(
    'is idle for a model that other gateways have %j of, with %j here: %s',
    (others, own, idle, is) => {
      elsewhere = others;
      for (const id of own) waits(id);
      pool.offer.mockReturnValue({ idle });
      expect(embedded.isIdle('m')).toBe(is);
    },
  );

  it('is idle as its dispatcher says where gateways share no order', () => {
    dispatcher.isIdle.mockReturnValueOnce(true).mockReturnValueOnce(false);
    expect([embedded.isIdle('m'), embedded.isIdle('m')]).toEqual([true, false]);
  });

  it('takes requests, and says when they start and what goes before', () => {
    const taken = { ...aRequest('r', { enqueuedAtMs: 7 }), payload: {} } as never;
    expect(embedded.enqueue(taken)).toBe('accepted');
    expect([dispatcher.submit.mock.calls, embedded.startMs(taken)]).toEqual([[[taken, 0]], 0]);
    dispatcher.startInMs.mockReturnValue(9);
    expect(embedded.startMs(taken)).toBe(9);
    expect(dispatcher.startInMs).toHaveBeenLastCalledWith(taken, 7);
    queue.enqueue(aRealtimeRequest('a'));
    queue.enqueue(aRequest('b'));
    expect(embedded.backlog(aRequest('c'))).toEqual({ hasReady: false, waiting: 2, startInMs: 9 });
    pool.of.mockReturnValue({ hasReady: true });
    expect(embedded.backlog(aRealtimeRequest('c'))).toMatchObject({ hasReady: true, waiting: 1 });
  });

  it('cancels what waits, and what its worker has', async () => {
    waits('r');
    await embedded.cancel(aRequest('r'), 'client', undefined);
    expect([embedded.isEmpty, pool.cancel.mock.calls]).toEqual([true, []]);
    waits('s');
    await embedded.cancel(aRequest('s'), 'client', 'w');
    expect([embedded.isEmpty, pool.cancel.mock.calls]).toEqual([
      false,
      [['w', aKey('s'), 'client']],
    ]);
  });

  it('gives what waits here another priority, and nothing else', () => {
    waits('r');
    waits('other');
    opened(registry, 'shared');
    expect(embedded.reprioritize(aRef('r'), REALTIME)).toBe(true);
    expect(registry.get(aKey('r'))?.priority).toBe('realtime');
    queue.remove(aKey('other'));
    expect(['other', 'shared', 'no'].map(id => embedded.reprioritize(aRef(id), REALTIME))).toEqual([
      false,
      false,
      false,
    ]);
    reprioritized$.next({ key: aKey('r'), priority: BATCH });
    reprioritized$.next({ key: aKey('no'), priority: BATCH });
    expect(registry.get(aKey('r'))?.priority).toBe('batch');
  });

  it('lists and finds what waits, with its place among those of all gateways', () => {
    waits('a', { enqueuedAtMs: 0 });
    waits('b', { enqueuedAtMs: 1 });
    queue.enqueue(aRequest('unknown', { enqueuedAtMs: 2 }));
    const places = () => embedded.list().map(({ id, position }) => [id, position]);
    expect(places()).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect([embedded.find(aRef('b'))?.position, embedded.find(aRef('no'))]).toEqual([2, undefined]);
    elsewhere = { ...none, realtime: 5 };
    expect(embedded.find(aRef('b'))?.position).toBeGreaterThan(2);
  });

  it('counts what waits and runs of each model, but not where gateways share the order', () => {
    waits('a', { enqueuedAtMs: 10 });
    waits('b', { enqueuedAtMs: 20, priority: REALTIME });
    waits('c');
    queue.remove(aKey('c'));
    registry.leased(registry.get(aKey('c'))!, LEASE, false);
    registry.leased(opened(registry, 'pulled'), LEASE, false);
    nowMs = 50;
    expect(embedded.depths()).toEqual([
      { model: 'm', realtime: 1, batch: 1, running: 1, oldestWaitMs: 40 },
      { model: 'n', realtime: 0, batch: 0, running: 0, oldestWaitMs: undefined },
    ]);
    elsewhere = none;
    expect(embedded.depths()[0]).toEqual({ model: 'm', ...none });
  });
});
