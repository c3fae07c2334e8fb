import { describe, expect, it } from '@jest/globals';
import { synthesize, transcribe } from '../../../test/support/pool-harness.js';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aKey } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { TrackedRequest } from './tracked-request.js';

const GONE = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
} as const;

describe('RequestRegistry', () => {
  it('lists the latest first and finds by id', () => {
    const registry = aRegistry();
    for (const id of ['a', 'b']) registry.settle(opened(registry, id), GONE);
    expect(registry.allEnded().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(registry.ended(aKey('a'))).toMatchObject({
      id: 'a',
      state: 'cancelled',
      code: 'request_cancelled',
    });
  });

  it('settles a request once, whatever comes after', () => {
    const registry = aRegistry();
    const record = opened(registry, 'a');
    expect([registry.settle(record, GONE), registry.settle(record, GONE)]).toEqual([true, false]);
    expect([registry.allEnded().length, registry.size]).toEqual([1, 0]);
  });

  it('is idle when the last of its requests has ended', async () => {
    const registry = aRegistry();
    const records = ['a', 'b'].map(id => opened(registry, id));
    let isIdle = false;
    const idle = registry.idle().then(() => (isIdle = true));
    registry.settle(records[0]!, GONE);
    await new Promise(setImmediate);
    expect(isIdle).toBe(false);
    registry.settle(records[1]!, GONE);
    await new Promise(setImmediate);
    expect(isIdle).toBe(true);
    await idle;
  });

  it('keeps the newest thousand that have ended, and all that run', () => {
    const registry = aRegistry();
    const running = opened(registry, 'running');
    for (let n = 0; n <= 1000; n += 1) registry.settle(opened(registry, `r${n}`), GONE);
    expect([registry.allEnded().length, registry.ended(aKey('r0')), registry.live()]).toEqual([
      1000,
      undefined,
      [running],
    ]);
  });

  it('remembers the later of two requests that used the same id', () => {
    const registry = aRegistry();
    registry.settle(opened(registry, 'a'), GONE);
    registry.settle(opened(registry, 'b'), GONE);
    const again = opened(registry, 'a');
    registry.leased(again, LEASE, false);
    registry.settle(again, GONE);
    expect(registry.allEnded().map(({ id, attempts }) => [id, attempts])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
  });

  it('takes an id again when the last call for it has ended, not when its caller has the answer', () => {
    const registry = aRegistry();
    const record = opened(registry, 'a');
    record.called(0);
    record.called(0);
    registry.settle(record, GONE);
    expect([registry.record(record.key), registry.get(record.key), registry.size]).toEqual([
      record,
      undefined,
      0,
    ]);
    registry.callEnded(record);
    expect(registry.record(record.key)).toBe(record);
    registry.callEnded(record);
    expect(registry.record(record.key)).toBeUndefined();
  });
});

describe('what the registry tells', () => {
  const AGING_MS = settingsFrom({}).queue.agingMs;
  const EXECUTION = { deviceMs: 30, batchSize: 2, batchId: 'b', readyWaitMs: 0 };
  const answered = (fields: object = { kind: 'embeddings' }) => ({
    status: 'completed' as const,
    reply: { execution: EXECUTION, ...fields } as WorkerReply,
  });

  function told() {
    const bus = new DispatchEventBus();
    const events: DispatchEvent[] = [];
    bus.events$.subscribe(event => events.push(event));
    const clock = { ms: 5 };
    const registry = new RequestRegistry(bus, { nowMs: () => clock.ms }, settingsFrom({}));
    const last = (): DispatchEvent | undefined => events.at(-1);
    return { registry, clock, events, last, types: () => events.map(({ type }) => type) };
  }

  it('of a request names its caller, its key and its time', () => {
    const { registry, last } = told();
    const record = opened(registry, 'r', {
      tenant: 't',
      bytes: 9,
      keyId: 'k',
      traceparent: 'x',
    });
    expect(last()).toMatchObject({
      type: 'accepted',
      key: record.key,
      requestId: 'r',
      tenant: 't',
      keyId: 'k',
      model: 'm',
      priority: 'batch',
      atMs: 5,
      bytes: 9,
      traceparent: 'x',
    });
    expect([registry.size, registry.nowMs(), registry.view(record).waitedMs]).toEqual([1, 5, 5]);
  });

  it('of a request that is refused is its code, and its id is free', async () => {
    const { registry, last } = told();
    const record = new TrackedRequest(transcribe('', undefined, 'r'), {} as never);
    registry.enter(record);
    expect([registry.entering(record.key), registry.get(record.key), registry.live()]).toEqual([
      record,
      undefined,
      [],
    ]);
    expect(registry.unsettled()).toEqual([record]);
    const error = new DomainError('queue_full', 'full');
    registry.reject(record, error);
    expect([registry.record(record.key), last()]).toMatchObject([
      undefined,
      { type: 'rejected', code: 'queue_full' },
    ]);
    expect(await record.settled).toEqual({
      settlement: { status: 'failed', error },
      phases: {},
      attempts: 0,
    });
  });

  it('of a refusal does not touch another request of that id', () => {
    const { registry } = told();
    const record = opened(registry, 'r');
    registry.reject(
      new TrackedRequest(record.request, {} as never),
      new DomainError('queue_full', ''),
    );
    expect([registry.entering(record.key), registry.get(record.key)]).toEqual([undefined, record]);
  });

  it('of a lease is how long it waited, and that it was aged once', () => {
    const { registry, clock, events, types, last } = told();
    const record = opened(registry, 'r', { enqueuedAtMs: 2 });
    clock.ms = 12;
    registry.leased(record, LEASE, true);
    expect(events.slice(1)).toMatchObject([
      { type: 'promoted', waitedMs: 10 },
      { type: 'leased', ...LEASE, attempt: 1, queueWaitMs: 10 },
    ]);
    const order: string[] = [];
    registry.requeued(record, 'worker_lost', () => void order.push(...types().slice(3)));
    expect([order, last()]).toMatchObject([
      [],
      { type: 'requeued', workerId: 'w', code: 'worker_lost' },
    ]);
    registry.leased(record, LEASE, true);
    expect(types().slice(4)).toEqual(['leased']);
    expect(last()).toMatchObject({ attempt: 2 });
  });

  it.each([
    ['worker_lost', 1],
    ['shutting_down', 0],
  ] as const)('of a request that comes back by %s counts %d attempts', (code, attempts) => {
    const { registry } = told();
    const record = opened(registry, 'r');
    registry.leased(record, LEASE, false);
    registry.requeued(record, code);
    expect(record.attempts).toBe(attempts);
  });

  it('of another priority is the one before, if it is another', () => {
    const { registry, events, last } = told();
    const record = opened(registry, 'r');
    registry.reprioritized(record, RequestPriority.BATCH);
    expect(events).toHaveLength(1);
    registry.reprioritized(record, RequestPriority.REALTIME);
    expect(last()).toMatchObject({ type: 'reprioritized', from: 'batch', priority: 'realtime' });
  });

  it.each([
    [AGING_MS - 1, false],
    [AGING_MS, true],
  ])('of one that ends in the queue after %d ms is that it was aged: %s', (ms, isAged) => {
    const { registry, clock, types } = told();
    const record = opened(registry, 'r');
    clock.ms = ms;
    expect(registry.isAged(record)).toBe(isAged);
    registry.settle(record, GONE);
    expect(types().includes('promoted')).toBe(isAged);
  });

  it('of one that a worker had when it ended is not that it was aged', () => {
    const { registry, clock, types } = told();
    const record = opened(registry, 'r');
    registry.leased(record, LEASE, false);
    clock.ms = AGING_MS;
    registry.settle(record, GONE);
    expect(types()).toEqual(['accepted', 'leased', 'settled']);
  });

  it('of an answer is what it cost', async () => {
    const { registry, clock, last } = told();
    const { task } = synthesize('hello');
    const record = opened(registry, 'r', { enqueuedAtMs: 2 }, task);
    registry.leased(record, LEASE, false);
    record.wrote(7);
    clock.ms = 20;
    registry.settle(record, answered({ kind: 'speech', durationS: 2, lateS: 1 }));
    expect(last()).toMatchObject({
      type: 'settled',
      status: 'completed',
      attempts: 1,
      batchSize: 2,
      batchId: 'b',
      deviceMs: 15,
      usage: { audioSeconds: 2, characters: 5 },
      lateS: 1,
      firstOutputMs: 5,
      metDeadline: undefined,
    });
    expect((await record.settled).attempts).toBe(1);
    expect(registry.record(record.key)).toBeUndefined();
  });

  it.each([
    ['answer', undefined, 20, true],
    ['answer', 5, 21, false],
    ['first_output', undefined, 20, true],
    ['first_output', undefined, 21, false],
    ['first_output', 20, 90, true],
    ['first_output', 21, 90, false],
  ] as const)(
    'of a deadline until %s, with output at %p and an end at %d, is %s',
    (until, at, ms, met) => {
      const { registry, clock, last } = told();
      const record = opened(registry, 'r', { deadline: { until, withinMs: 20, atMs: 20 } });
      registry.leased(record, LEASE, false);
      if (at !== undefined) record.wrote(at);
      clock.ms = ms;
      registry.settle(record, answered());
      expect(last()).toMatchObject({ metDeadline: met });
    },
  );

  it('of one that its store cancelled after it was completed is that it was withdrawn', () => {
    const { registry, events, last } = told();
    const [done, failed] = ['done', 'failed'].map(id => opened(registry, id));
    registry.leased(done!, LEASE, false);
    registry.settle(done!, answered());
    registry.settle(failed!, GONE);
    const before = events.length;
    for (const id of ['failed', 'unknown']) registry.withdrawn(aKey(id));
    expect(events).toHaveLength(before);
    registry.withdrawn(aKey('done'));
    expect(last()).toMatchObject({ type: 'withdrawn', requestId: 'done', model: 'm', atMs: 5 });
    expect(registry.ended(aKey('done'))).toMatchObject({
      state: 'cancelled',
      code: 'request_cancelled',
      cancelReason: 'client',
    });
  });

  it('is idle at once where nothing runs', async () => {
    expect(await told().registry.idle()).toBeUndefined();
  });
});
