import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { aRegistry, opened } from '../../../test/support/records.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { type DispatchPlan } from '../../core/dispatch/dispatch-plan.js';
import { Lease } from '../../core/dispatch/lease.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { WorkerCalls } from './worker-calls.js';

Logger.overrideLogger(false);

const settled = () => new Promise(setImmediate);
const REPLY = {
  kind: 'embeddings',
  execution: { deviceMs: 30, batchSize: 2, readyWaitMs: 0 },
} as WorkerReply;

describe('the calls of a plan', () => {
  let bus: DispatchEventBus;
  let registry: RequestRegistry;
  let events: DispatchEvent[];
  let ends: { reply: PromiseWithResolvers<WorkerReply>; finished: PromiseWithResolvers<void> }[];
  const [execute, measured, restore, cancel, release] = [
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
  ];
  let calls: WorkerCalls;

  beforeEach(() => {
    for (const mock of [execute, measured, restore, cancel, release]) mock.mockReset();
    [bus, events, ends] = [new DispatchEventBus(), [], []];
    bus.events$.subscribe(event => events.push(event));
    registry = aRegistry(bus);
    execute.mockImplementation(() => {
      const end = {
        reply: Promise.withResolvers<WorkerReply>(),
        finished: Promise.withResolvers<void>(),
      };
      ends.push(end);
      return {
        reply: end.reply.promise,
        finished: end.finished.promise,
        progress: () => Promise.resolve({ onDevice: true, deviceMs: 1e9 }),
      };
    });
    const error = new DomainError('engine_failed', 'failed');
    const errors = {
      reported: () => ({ status: 'failed', error }),
      workerLost: () => ({ status: 'failed', error: new DomainError('worker_lost', 'lost') }),
    };
    const parts = [{ execute }, registry, { measured, restore }, new ServiceTimes()];
    calls = new WorkerCalls(
      ...([...parts, { cancel }, errors] as unknown as ConstructorParameters<typeof WorkerCalls>),
    );
  });

  function run(
    fields: Partial<ScheduledRequest> = {},
    more: TrackedRequest[] = [],
  ): TrackedRequest {
    const record = opened(registry, 'r', fields);
    const members = [record, ...more].map(({ request }) => ({
      request,
      lease: new Lease(release),
      batchWaitMs: 2,
      aged: false,
    }));
    const plan = { workerId: 'w', groupId: 'g', model: 'm', reason: 'single', agingShare: 0.5 };
    calls.run({ ...plan, members } as unknown as DispatchPlan);
    return record;
  }
  const codeOf = ({ settlement }: TrackedRequest): unknown =>
    settlement && 'error' in settlement ? settlement.error.code : settlement?.status;

  it('are sent with their group, and answer with what their device did', async () => {
    const record = run({}, [opened(registry, 's')]);
    const group = { id: 'g', size: 2, agingShare: 0.5, timeLimitMs: 30_000 };
    expect(execute.mock.calls[0]).toEqual([{ workerId: 'w', request: record.request, group }]);
    expect(events.filter(({ type }) => type === 'leased')).toMatchObject([
      { workerId: 'w', groupId: 'g', groupSize: 2, reason: 'single', batchWaitMs: 2 },
      { requestId: 's' },
    ]);
    ends[0]?.reply.resolve(REPLY);
    await settled();
    expect([codeOf(record), record.calls, release.mock.calls.length]).toEqual(['completed', 1, 0]);
    expect(measured.mock.calls).toEqual([[record.request, 15]]);
    ends[0]?.finished.resolve();
    await settled();
    expect([record.calls, release.mock.calls.length, registry.size]).toEqual([0, 1, 1]);
  });

  it.each([
    [{ until: 'first_output', withinMs: 1, atMs: 25 }, 20],
    [{ until: 'first_output', withinMs: 1, atMs: 5 }, 1],
    [{ until: 'answer', withinMs: 1, atMs: 25 }, undefined],
  ] as const)(
    'with the deadline %j leave %p ms for their first output',
    (deadline, firstOutputMs) => {
      run({ deadline });
      expect(execute.mock.lastCall).toMatchObject([{ group: { size: 1, firstOutputMs } }]);
    },
  );

  it('whose device did not measure them change no account', async () => {
    const record = run();
    const execution = { ...REPLY.execution, deviceMs: 0 };
    ends[0]?.reply.resolve({ ...REPLY, execution });
    await settled();
    expect([codeOf(record), measured.mock.calls]).toEqual(['completed', []]);
  });

  it('are not sent for a request that is gone, or cancelled by who heard of its lease', () => {
    bus.on('leased', ({ key }) => {
      const record = registry.get(key)!;
      registry.settle(record, {
        status: 'cancelled',
        error: new DomainError('request_cancelled', ''),
      });
    });
    run({}, [{ request: { key: 'unknown' } } as unknown as TrackedRequest]);
    expect([execute.mock.calls, release.mock.calls.length]).toEqual([[], 2]);
  });

  it('that cannot be sent free their slot', async () => {
    execute.mockImplementation(() => {
      throw new Error('defect');
    });
    const record = run();
    await settled();
    expect([codeOf(record), release.mock.calls.length, record.calls]).toEqual([
      'engine_failed',
      1,
      0,
    ]);
  });

  it('that fail end with the error of their worker', async () => {
    const record = run();
    ends[0]?.reply.reject(new DomainError('invalid_audio', ''));
    await settled();
    expect([codeOf(record), release.mock.calls]).toEqual(['engine_failed', []]);
  });

  it('whose caller has an answer by then change nothing', async () => {
    const record = run();
    registry.settle(record, {
      status: 'cancelled',
      error: new DomainError('request_cancelled', ''),
    });
    ends[0]?.reply.reject(new WorkerLostError('died', 'gone'));
    await settled();
    expect([codeOf(record), restore.mock.calls]).toEqual(['request_cancelled', []]);
  });

  it.each([
    ['died', 'worker_lost'],
    ['draining', 'shutting_down'],
  ] as const)('that are lost as %s go back to their place: %s', async (kind, code) => {
    const record = run();
    ends[0]?.reply.reject(new WorkerLostError(kind, 'gone'));
    await settled();
    expect(restore.mock.calls).toEqual([[expect.objectContaining({ id: 'r', avoid: ['w'] })]]);
    expect([record.state, events.at(-1)]).toMatchObject(['queued', { type: 'requeued', code }]);
  });

  it('that are lost after output began end', async () => {
    const record = run();
    jest.spyOn(record, 'retry').mockReturnValue(undefined);
    ends[0]?.reply.reject(new WorkerLostError('died', 'gone'));
    await settled();
    expect([codeOf(record), restore.mock.calls]).toEqual(['worker_lost', []]);
  });

  it('that compute for longer than they may are cancelled', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const record = run({ inferenceTimeoutMs: 100 });
    await jest.advanceTimersByTimeAsync(1000);
    expect(cancel.mock.calls[0]).toEqual([record, 'deadline']);
    record.stopDeadline();
    jest.useRealTimers();
  });
});
