import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import {
  request as requestOf,
  synthesize,
  transcribe,
} from '../../../test/support/pool-harness.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import {
  type TaskRequest,
  type WorkerReply,
  type WorkerTask,
} from '../../worker-client/worker-task.js';
import { TrackedRequest } from './tracked-request.js';

const made = (fields: Partial<TaskRequest> = {}): TrackedRequest =>
  new TrackedRequest({ ...transcribe('', undefined, 'r'), ...fields }, {} as never);
const refused = () => new WorkerLostError('refused', 'busy');
const died = () => new WorkerLostError('died', 'ended');
const REPLY = { execution: { batchSize: 3, readyWaitMs: 4 } } as WorkerReply;

describe('the record of a request', () => {
  it('says whether it was accepted, and how many calls workers have not ended', () => {
    const record = made();
    const seen = [record.accepted, record.calls];
    record.accept();
    record.called(1);
    record.called(2);
    record.callEnded();
    expect([...seen, record.accepted, record.calls]).toEqual([false, 0, true, 1]);
  });

  it('tells when its answer began, and when the part before went', () => {
    const record = made();
    expect([record.wrote(5), record.wrote(9), record.firstOutputAtMs]).toEqual([undefined, 5, 5]);
  });

  it('shows how long it waited and what it was sent with', () => {
    const record = made({ enqueuedAtMs: 100, route: '/v1' });
    expect(record.view(130)).toMatchObject({
      id: 'r',
      model: 'm',
      state: 'queued',
      waitedMs: 30,
      priority: 'batch',
      route: '/v1',
      group: undefined,
      attempts: 0,
      aged: false,
    });
    const group = { id: 'g', size: 2, reason: 'single' } as const;
    record.leased('w', 150, 20, group);
    expect(record.lease).toEqual({ group, phases: { queueWaitMs: 50, batchWaitMs: 20 } });
    expect(record.view(900)).toMatchObject({ state: 'running', group, workerId: 'w' });
    record.settle({ status: 'completed', reply: REPLY }, 950);
    expect(record.view(2000)).toMatchObject({ state: 'completed', batchSize: 3, waitedMs: 50 });
    expect(record.phases.readyMs).toBe(4);
    expect(record.view(2000)).not.toHaveProperty('code');
  });

  it('shows why it ended, and who stopped it', () => {
    const record = made({ enqueuedAtMs: 100 });
    record.cancelled('client');
    const error = new DomainError('request_cancelled', '');
    expect(record.settle({ status: 'cancelled', error }, 130)).toBe(true);
    expect(record.view(900)).toMatchObject({
      state: 'cancelled',
      code: 'request_cancelled',
      cancelReason: 'client',
      waitedMs: 30,
    });
  });

  it('takes another priority', () => {
    const record = made();
    record.reprioritized(RequestPriority.REALTIME);
    expect([record.priority, record.request.priority]).toEqual([
      'realtime',
      RequestPriority.REALTIME,
    ]);
  });

  it('goes again to another worker, later by as long as the lost ones had it', () => {
    const record = made({ queueDeadlineMs: 1000 });
    record.leased('w', 0, 0);
    expect(record.retry(refused(), 30)).toMatchObject({ queueDeadlineMs: 1030, avoid: ['w'] });
    expect(record.retry(refused(), 20)?.queueDeadlineMs).toBe(1050);
    expect(record.lossCode).toBeUndefined();
  });

  it.each([
    [{ latestStartMs: 1010 }, 1030],
    [{ deadline: { until: 'answer', withinMs: 1, atMs: 1 }, latestStartMs: 1010 }, 1010],
    [{ deadline: { until: 'answer', withinMs: 1, atMs: 1 } }, 1030],
  ] as const)('goes again by its latest start at the latest: %j until %d', (fields, untilMs) => {
    const record = made({ queueDeadlineMs: 1000, ...fields });
    expect(record.retry(died(), 30)?.queueDeadlineMs).toBe(untilMs);
  });

  it('does not go again when workers died with it alone, or were lost too often', () => {
    const record = made();
    expect(record.retry(died(), 0)?.mostTogether).toBe(1);
    expect([record.retry(died(), 0), record.lossCode]).toEqual([undefined, 'worker_crashed']);
    const suspect = made({ mostTogether: 2 });
    expect(suspect.retry(refused(), 0)?.mostTogether).toBe(2);
  });

  it('does not go again when a part of its answer has reached its caller', () => {
    const { task, headers } = synthesize('text');
    const speech = new TrackedRequest(requestOf(task), {} as never);
    expect(speech.outputStarted).toBe(false);
    const { payload } = speech.request;
    if (payload.kind === 'synthesize') payload.sink.header({ contentType: 'a', sampleRate: 1 });
    expect([speech.outputStarted, headers.length, speech.retry(refused(), 0)]).toEqual([
      true,
      1,
      undefined,
    ]);
  });

  it('notices the beginning of a text that is streamed, and leaves other tasks as they are', () => {
    const sink = { chunks: new PassThrough() };
    const task = { kind: 'generate', form: 'chat', body: Buffer.alloc(0), maxTokens: 1, n: 1 };
    const streamed = requestOf({ ...task, sink } as unknown as WorkerTask);
    const record = new TrackedRequest(streamed, {} as never);
    const { payload } = record.request;
    if (payload.kind === 'generate') payload.sink?.begin?.();
    expect(record.outputStarted).toBe(true);
    for (const plain of [requestOf(task as unknown as WorkerTask), transcribe()])
      expect(new TrackedRequest(plain, {} as never).request).toBe(plain);
  });

  it('is overdue when its worker has computed it for longer than it may, unless it ended', async () => {
    jest.useFakeTimers();
    const overdue = jest.fn();
    const progress = () => Promise.resolve({ onDevice: true, deviceMs: 200 });
    const [one, two] = [made({ inferenceTimeoutMs: 100 }), made({ inferenceTimeoutMs: 100 })];
    for (const record of [one, two]) record.startDeadline({ progress } as never, overdue);
    two.stopDeadline();
    await jest.advanceTimersByTimeAsync(1000);
    expect(overdue).toHaveBeenCalledTimes(1);
    one.stopDeadline();
    made().stopDeadline();
    jest.useRealTimers();
  });
});
