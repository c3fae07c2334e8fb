import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { QueueJobClass, QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Subject } from 'rxjs';
import { aKey, aRealtimeRequest, aRequest } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { type DispatchPlan } from '../../core/dispatch/dispatch-plan.js';
import { Lease } from '../../core/dispatch/lease.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type PlacesOptions } from './model-places.js';
import { TextPlaces } from './text-places.js';

const AGING_MS = 30_000;
/** The clock of Redis is so much later. */
const LATER_MS = 5000;
const keys = new QueueKeys('test');
const OFFER = { workerId: 'w', free: 1, urgent: 1, idle: true, maxBatch: 1 };
const COUNTS = { realtime: 1, batch: 2, running: 3 };

describe('text for workers that several gateways send to', () => {
  let isEnabled: boolean;
  /** Slots of the worker; undefined: it belongs to this gateway alone. */
  let shared: object[] | undefined;
  let nowMs: number;
  let granted: object[];
  let sent: Lease[];
  let options: PlacesOptions<ScheduledRequest>;
  let queue: PriorityQueue;
  let events: DispatchEventBus;
  let text: TextPlaces;
  let [stops$, heard$, capacity$] = [new Subject(), new Subject(), new Subject()];
  const [add, settle, offer, lease, free] = [jest.fn(), jest.fn(), jest.fn(), jest.fn(), jest.fn()];
  const places = {
    enter: jest.fn(),
    left: jest.fn(),
    extra: jest.fn(),
    changed: jest.fn(),
    refused: jest.fn(),
    limited: jest.fn(),
    keyOf: jest.fn(),
    granted: () => granted.splice(0),
    sendsTo: (id: string) => id === 'w',
    without: () => COUNTS,
    elsewhere: COUNTS,
  };

  beforeEach(() => {
    for (const mock of [add, settle, offer, lease, free, ...Object.values(places)])
      if ('mockReset' in mock) mock.mockReset();
    [isEnabled, shared, nowMs, granted, sent] = [true, [slots()], 1000, [], [new Lease(() => 0)]];
    add.mockImplementation((_, given) => ((options = given as typeof options), places));
    offer.mockReturnValue(OFFER);
    lease.mockImplementation(() => sent);
    begin();
  });

  const slots = (fields: object = {}) => ({ workerId: 'w', measuresAll: false, ...fields });
  function begin(weightOf?: (tenant: string) => number): void {
    [stops$, heard$, capacity$] = [new Subject(), new Subject(), new Subject()];
    queue = new PriorityQueue({
      agingMs: AGING_MS,
      agingShare: 0.25,
      ...(weightOf && { weightOf }),
    });
    events = new DispatchEventBus();
    const link = { enabled: isEnabled, keys, clock: { nowMs: () => nowMs + LATER_MS } };
    const pool = { of: () => ({ sharedSlots: shared }), offer, lease, capacity$ };
    const parts = [{ link, stops$ }, { events$: heard$ }, pool, queue, { nowMs: () => nowMs }];
    text = Object.assign(
      new TextPlaces(
        ...([...parts, events] as unknown as ConstructorParameters<typeof TextPlaces>),
      ),
      { all: { add, settle } } as object,
    );
    text.onApplicationBootstrap();
  }
  const emit = (type: DispatchEvent['type'], id: string, fields: object = {}): void =>
    events.emit({ type, key: aKey(id), model: 'm', ...fields } as unknown as DispatchEvent);
  function waits(request: ScheduledRequest): ScheduledRequest {
    queue.enqueue(request);
    emit('accepted', request.id, request);
    return request;
  }
  /** Its plan, after it was granted a slot. */
  function plan(request: ScheduledRequest): DispatchPlan | undefined {
    granted = [{ key: waits(request).key, workerId: 'w', free }];
    return [...text.plans()][0];
  }

  it('waits in the order of all from when it is accepted, given back or valued anew', () => {
    const request = waits(aRequest('r'));
    emit('requeued', 'r');
    emit('reprioritized', 'r');
    emit('accepted', 'gone');
    expect(places.enter.mock.calls).toEqual([
      [request, false],
      [request, true],
      [request, false],
    ]);
    expect(add).toHaveBeenCalledTimes(1);
    expect([[...options.waiting()], options.slots()]).toEqual([[request], shared]);
  });

  it('leaves that order when it is sent or has ended', () => {
    waits(aRequest('r'));
    emit('leased', 'r');
    emit('settled', 's');
    expect(places.left.mock.calls).toEqual([[aKey('r')], [aKey('s')]]);
  });

  it('has a place by its age on the clock of Redis, its class and the weight of its tenant', () => {
    begin(() => 3);
    waits(aRequest('r'));
    nowMs = 1400;
    const fields = { tenant: 't', costMs: 7, mostTogether: 2 };
    const [batch, urgent] = [aRequest, aRealtimeRequest].map(make =>
      options.placeOf(make('r', { ...fields, enqueuedAtMs: 999.6 }), 'nonce'),
    );
    const shown = { v: 1, kind: 'generation', id: 'r', model: 'm', tenant: 't' };
    expect(batch).toEqual({
      id: `${keys.job('r', 't')}.nonce`,
      class: QueueJobClass.BATCH,
      sinceMs: 5999.6,
      costMs: 7,
      mostTogether: 2,
      weight: 3,
      isReturned: false,
      shown: { ...shown, acceptedMs: 6000, priority: 'batch' },
    });
    expect(urgent).toMatchObject({
      class: QueueJobClass.REALTIME,
      shown: { priority: 'realtime' },
    });
  });

  it('weighs 1 where tenants are equal', () => {
    const request = waits(aRequest('r'));
    expect(options.placeOf(request, 'n').weight).toBe(1);
    begin(tenant => (tenant === 'default' ? 4 : 0));
    waits(request);
    expect(options.placeOf(request, 'n').weight).toBe(4);
  });

  it('makes what waits here due when a slot was granted', () => {
    const due = jest.fn();
    text.due$.subscribe(due);
    waits(aRequest('r'));
    options.onDue();
    expect(due).toHaveBeenCalledTimes(1);
  });

  it('is sent alone with the slot that was granted, which is free when the request ends', () => {
    const release = jest.fn();
    sent = [new Lease(release)];
    const request = aRequest('r', { mostTogether: 2 });
    const made = plan(request);
    expect(lease).toHaveBeenCalledWith('w', 1, 'urgent', 2);
    expect(made).toMatchObject({
      model: 'm',
      workerId: 'w',
      reason: 'single',
      agingShare: undefined,
      members: [{ request, batchWaitMs: 0, aged: false }],
    });
    expect([queue.depth, free.mock.calls.length]).toEqual([0, 0]);
    made?.members[0]?.lease.release();
    expect([release.mock.calls.length, free.mock.calls.length]).toEqual([1, 1]);
  });

  it('is aged from its age on', () => {
    nowMs = AGING_MS;
    expect(plan(aRequest('r'))).toMatchObject({ agingShare: 0.25, members: [{ aged: true }] });
  });

  it('gives a slot back that comes for what does not wait any longer', () => {
    waits(aRequest('r'));
    granted = [{ key: aKey('gone'), workerId: 'w', free }];
    expect([[...text.plans()], free.mock.calls.length]).toEqual([[], 1]);
    expect(lease).not.toHaveBeenCalled();
  });

  it('waits again when its worker went away before it was sent', () => {
    lease.mockImplementation(() => {
      throw new Error('gone');
    });
    const request = aRequest('r');
    expect([plan(request), free.mock.calls.length, queue.depth]).toEqual([undefined, 1, 1]);
    expect(places.refused).toHaveBeenCalledWith(request);
  });

  it.each([
    ['the time of its slot', aRequest, false, 40, QueueJobClass.BATCH],
    ['what its worker measured for all', aRealtimeRequest, true, 90, QueueJobClass.REALTIME],
  ])('costs its tenant %s, once', (_, make, measuresAll, beyondMs, level) => {
    shared = [slots({ workerId: 'other', measuresAll: !measuresAll }), slots({ measuresAll })];
    plan(make('r', { costMs: 10, tenant: 't' }));
    nowMs += 50;
    for (let nth = 0; nth < 2; nth++) emit('settled', 'r', { key: aKey('r', 't'), deviceMs: 100 });
    expect(settle.mock.calls).toEqual([['m', keys.owner('t'), level, beyondMs]]);
  });

  it('costs nothing more where nothing was measured, or it was never granted a slot', () => {
    shared = [slots({ measuresAll: true })];
    plan(aRequest('r'));
    emit('settled', 'r');
    emit('settled', 'never', { deviceMs: 9 });
    expect(settle).not.toHaveBeenCalled();
  });

  it('is stopped and valued anew at the request of other gateways', () => {
    const told: object[] = [];
    text.stops$.subscribe(stop => told.push(stop));
    text.reprioritized$.subscribe(change => told.push(change));
    waits(aRequest('r'));
    places.keyOf.mockImplementation(id => (id === 'place' ? aKey('r') : undefined));
    stops$.next({ jobId: 'place', reason: 'client' });
    stops$.next({ jobId: 'place', reason: 'queue_timeout' });
    stops$.next({ jobId: 'other', reason: 'client' });
    heard$.next({ event: 'reprioritized', jobId: 'place', priority: 'realtime' });
    heard$.next({ event: 'reprioritized', jobId: 'other', priority: 'realtime' });
    heard$.next({ event: 'active', jobId: 'place' });
    expect(told).toEqual([
      { key: aKey('r'), reason: 'client' },
      { key: aKey('r'), priority: RequestPriority.REALTIME },
    ]);
  });

  it('is offered what its places leave, and its leases are counted there', () => {
    const [limited, counted] = [{ ...OFFER, free: 0 }, [new Lease(undefined)]];
    places.limited.mockReturnValue(limited);
    places.extra.mockReturnValue(counted);
    expect([text.offer('m'), text.lease('w', 1, 'free', 2)]).toEqual([limited, counted]);
    expect(places.limited).toHaveBeenCalledWith(OFFER);
    expect(lease).toHaveBeenCalledWith('w', 1, 'free', 2);
    expect(text.lease('v', 1, 'free')).toBe(sent);
    expect([text.elsewhere('m'), text.others('m', OFFER as never)]).toEqual([COUNTS, COUNTS]);
    shared = undefined;
    expect(text.offer('m')).toBe(OFFER);
  });

  it('has its places told when slots change', () => {
    capacity$.next('m');
    expect(places.changed).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['whose workers are of this gateway alone', true],
    ['of an embedded queue', false],
  ])('%s has no shared order', (_, enabled) => {
    isEnabled = enabled;
    if (enabled) shared = undefined;
    begin();
    expect(plan(aRequest('r'))).toBeUndefined();
    capacity$.next('m');
    const all = { realtime: 9, batch: 9, running: 9 };
    expect([text.offer('m'), text.lease('w', 1, 'free'), text.others('m', all)]).toEqual([
      OFFER,
      sent,
      all,
    ]);
    expect([add.mock.calls, text.elsewhere('m')]).toEqual([[], undefined]);
  });
});
