import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { transcribe } from '../../../test/support/pool-harness.js';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aKey } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { TrackedRequest } from '../registry/tracked-request.js';
import { RequestReports } from './request-reports.js';

const failed = (code: 'queue_timeout' | 'worker_lost' | 'engine_failed') => ({
  status: 'failed' as const,
  error: new DomainError(code, ''),
});
const REPLY = {
  kind: 'embeddings',
  usage: { promptTokens: 1, completionTokens: 0 },
  execution: { deviceMs: 30, batchSize: 1, readyWaitMs: 0 },
} as unknown as WorkerReply;

describe('what queues report', () => {
  let registry: RequestRegistry;
  let events: DispatchEvent[];
  let aged$: Subject<RequestKey>;
  let expired$: Subject<RequestKey>;
  let times: ServiceTimes;
  const [enqueue, unserved] = [jest.fn(), jest.fn()];
  let reports: RequestReports;

  beforeEach(() => {
    for (const mock of [enqueue, unserved]) mock.mockReset();
    const bus = new DispatchEventBus();
    [events, aged$, expired$, times] = [[], new Subject(), new Subject(), new ServiceTimes()];
    bus.events$.subscribe(event => events.push(event));
    registry = aRegistry(bus);
    const errors = {
      expired: () => failed('queue_timeout'),
      workerLost: () => failed('worker_lost'),
      reported: () => failed('engine_failed'),
    };
    const error = new DomainError('request_cancelled', '');
    const stops = { unserved, stopped: () => ({ status: 'cancelled', error }) };
    const parts = [registry, errors, stops, times, { aged$, expired$ }];
    reports = new RequestReports(
      ...(parts as unknown as ConstructorParameters<typeof RequestReports>),
    );
  });

  const entering = (id = 'r'): TrackedRequest =>
    new TrackedRequest(transcribe('', undefined, id), { enqueue } as never);
  const key = aKey('r');
  const last = (): DispatchEvent | undefined => events.at(-1);

  it('enters a request into its queue, which may take it at once, later, or not', () => {
    const full = new DomainError('queue_full', '');
    enqueue
      .mockReturnValueOnce('accepted')
      .mockReturnValueOnce(undefined)
      .mockReturnValueOnce(full);
    const [one, two, three] = ['one', 'two', 'three'].map(entering);
    expect([one, two, three].map(record => reports.enter(record!))).toEqual([
      undefined,
      undefined,
      full,
    ]);
    expect(enqueue).toHaveBeenCalledWith(one?.request, reports);
    expect([one, two].map(record => record?.accepted)).toEqual([true, false]);
    reports.accepted(two!.key);
    expect([two?.accepted, registry.size]).toEqual([true, 2]);
    expect(() => reports.accepted(two!.key)).toThrow('without having been submitted');
  });

  it('refuses a request that is there already, that nothing serves, or that was refused', () => {
    const [away, late] = ['model_unloaded', 'deadline_unreachable'].map(
      code => new DomainError(code as 'model_unloaded', ''),
    );
    expect(reports.enter(entering(), late)).toBe(late);
    unserved.mockReturnValueOnce(away);
    expect(reports.enter(entering(), late)).toBe(away);
    expect([registry.record(key), enqueue.mock.calls]).toEqual([undefined, []]);
    opened(registry, 'r');
    expect(reports.enter(entering())?.code).toBe('duplicate_request_id');
  });

  it('rejects a request that is on its way, and no other', () => {
    reports.rejected(key, new DomainError('queue_full', ''));
    expect(events).toEqual([]);
    reports.enter(entering());
    reports.rejected(key, new DomainError('queue_full', ''));
    expect([last()?.type, registry.record(key)]).toEqual(['rejected', undefined]);
  });

  it('leases, gives back and computes requests of workers that pull', () => {
    const record = opened(registry, 'r');
    const pulled = { workerId: 'w', groupId: 'g', aged: true };
    const sent = jest.spyOn(record, 'sent');
    reports.requeued(key, true);
    for (let nth = 0; nth < 2; nth++) reports.leased(key, pulled);
    expect(events.slice(1)).toMatchObject([
      { type: 'promoted' },
      { type: 'leased', workerId: 'w', groupSize: 1, reason: 'pulled', batchWaitMs: 0 },
    ]);
    expect(sent.mock.calls).toEqual([[5]]);
    const grouped = jest.spyOn(record, 'grouped');
    reports.computed(key, 7, 2);
    expect(grouped.mock.calls).toEqual([[7, 2]]);
    reports.requeued(key, true);
    expect(last()).toMatchObject({ type: 'requeued', code: 'worker_lost' });
    reports.leased(key, { ...pulled, aged: false });
    reports.requeued(key, false);
    expect(last()).toMatchObject({ type: 'requeued', code: 'shutting_down' });
  });

  it('gives requests another priority, and says which have aged', () => {
    opened(registry, 'r');
    aged$.next(key);
    expect(last()?.type).toBe('promoted');
    reports.reprioritized(key, RequestPriority.REALTIME);
    expect(last()).toMatchObject({ type: 'reprioritized', priority: 'realtime' });
    const before = events.length;
    reports.reprioritized(aKey('unknown'), RequestPriority.REALTIME);
    aged$.next(aKey('unknown'));
    reports.ended(aKey('unknown'), { type: 'lost' });
    expect(events).toHaveLength(before);
  });

  const DEADLINE = { until: 'answer', withinMs: 1, atMs: 1 } as const;
  const late = failed('queue_timeout').error;
  it.each([
    [{ type: 'expired' }, {}, 'queue_timeout'],
    [{ type: 'lost' }, {}, 'worker_lost'],
    [{ type: 'stopped', reason: 'client' }, {}, 'request_cancelled'],
    [{ type: 'failed', error: late }, { deadline: DEADLINE }, 'queue_timeout'],
    [{ type: 'failed', error: late }, {}, 'engine_failed'],
    [{ type: 'failed', error: new Error('x') }, { deadline: DEADLINE }, 'engine_failed'],
    [
      { type: 'failed', error: failed('worker_lost').error },
      { deadline: DEADLINE },
      'engine_failed',
    ],
  ] as const)('ends a request with %j and %j as %s', (end, fields, code) => {
    opened(registry, 'r', fields);
    reports.ended(key, end);
    expect(last()).toMatchObject({ type: 'settled', code });
  });

  it('ends a request that its queue says has expired', () => {
    opened(registry, 'r');
    expired$.next(key);
    expect(last()).toMatchObject({ type: 'settled', code: 'queue_timeout' });
  });

  it('learns what an answer cost', () => {
    const record = opened(registry, 'r');
    const observe = jest.spyOn(times.of('m').costs, 'observe');
    registry.leased(record, LEASE, false);
    reports.ended(key, { type: 'completed', reply: REPLY });
    expect(last()).toMatchObject({ type: 'settled', status: 'completed' });
    expect(observe).toHaveBeenCalledTimes(1);
  });
});
