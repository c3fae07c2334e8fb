import { describe, expect, it } from '@jest/globals';
import { type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { NEVER, Subject } from 'rxjs';
import { transcribeTask } from '../../../test/support/pool-harness.js';
import { aKey } from '../../../test/support/requests.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type QueueEnd, type QueueReports } from '../registry/request-queue.port.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { type QueueEvents } from './queue-events.js';
import { type RequestJobs } from './request-jobs.js';
import { SharedRequest } from './shared-request.js';
import { SharedRequests } from './shared-requests.js';
import { type SpeechFeed } from './speech-relay.js';

const [MODEL, JOB] = ['m', 'tenant.r'];
const VALUE = {
  kind: 'embeddings',
  ...{ vectors: Buffer.alloc(4).toString('base64'), dimensions: 1 },
};
const COMPLETED = JSON.stringify({
  ...{ v: 1, outcome: 'completed', value: VALUE },
  phases: { workerId: 'w', takenMs: 1, batchWaitMs: 0, totalMs: 1, attempts: 1 },
  execution: { batchSize: 1 },
});

const nothing = (): undefined => undefined;

/**
 * One request in the queue, and its ends; `stopReason` is what its note says by then. No job
 * is found there. `queued`: when Redis has taken it, the first time and each time again.
 */
function watched(
  stopReason: () => Promise<string | undefined> = () => Promise.resolve(undefined),
  queued: () => Promise<void> = () => Promise.resolve(),
) {
  const events = new Subject<QueueEvent>();
  const ends: QueueEnd[] = [];
  const entered: string[] = [];
  const jobs = {
    ...{
      link: { enabled: true, back$: NEVER, usable: true },
      stops$: NEVER,
      weightsChanged$: NEVER,
      stopReason,
    },
    queues: { facts: () => Promise.resolve([undefined]) },
    enter: async (_: unknown, __: unknown, watch: () => void): Promise<boolean> => {
      watch();
      entered.push('first');
      await queued();
      return false;
    },
    again: async (): Promise<void> => {
      entered.push('again');
      await queued();
    },
    stop: () => Promise.resolve(),
    answered: () => Promise.resolve(),
  };
  const blobs = {
    load: (value: unknown) => Promise.resolve(value),
    remove: () => Promise.resolve(),
    removeLater: nothing,
  };
  const requests = new SharedRequests(
    jobs as unknown as RequestJobs,
    { events$: events } as unknown as QueueEvents,
    blobs as unknown as PayloadBlobs,
    {} as SpeechFeed,
    { of: nothing } as unknown as WorkerPoolService,
    { nowMs: () => 0 },
  );
  requests.onModuleInit();
  const reports = {
    ...{ accepted: nothing, leased: nothing, computed: nothing, requeued: nothing },
    ended: (_: unknown, end: QueueEnd) => void ends.push(end),
  };
  const payload = transcribeTask('', () => Promise.resolve(Buffer.alloc(0)));
  const task = {
    ...{ id: 'r', key: aKey('r'), model: MODEL, priority: RequestPriority.BATCH, payload },
    ...{ costMs: 1, bytes: 0, enqueuedAtMs: 0, queueDeadlineMs: 60_000, inferenceTimeoutMs: 1000 },
  };
  const shared = new SharedRequest(task, reports as unknown as QueueReports, {
    ...{ model: MODEL, jobId: JOB },
  });
  requests.add(shared);
  const opened = requests.open(shared, {
    ...{ job: {}, costMs: 1, blobs: [] },
  } as unknown as PlacedJob);
  const heard = async (event: Partial<QueueEvent>): Promise<void> => {
    events.next({ model: MODEL, jobId: JOB, event: 'removed', ...event });
    await new Promise(resolve => setImmediate(resolve));
  };
  return {
    ...{ ends, entered, opened },
    completed: (returnvalue = COMPLETED) => heard({ event: 'completed', returnvalue }),
    removed: () => heard({ event: 'removed' }),
    close: (): void => {
      requests.onApplicationShutdown();
      shared.stopQueueDeadline();
    },
  };
}

describe('a job that is completed', () => {
  const { value: _, execution: __, ...fields } = JSON.parse(COMPLETED) as Record<string, unknown>;
  const error = { code: 'invalid_audio', message: 'no sound' };

  it.each([
    ['a failure', JSON.stringify({ ...fields, outcome: 'failed', error }), 'invalid_audio'],
    ['what cannot be read', '{}', 'engine_failed'],
  ])('with %s fails its request', async (___, result, code) => {
    const { opened, completed, ends, close } = watched();
    await opened;
    await completed(result);
    expect(ends).toEqual([{ type: 'failed', error: expect.objectContaining({ code }) }]);
    close();
  });

  it('completes its request, once, however often that is heard', async () => {
    const { opened, completed, ends, close } = watched();
    await opened;
    await completed();
    await completed();
    expect(ends.map(({ type }) => type)).toEqual(['completed']);
    close();
  });

  it('and was cancelled for all by then ends as cancelled', async () => {
    const { opened, completed, ends, close } = watched(() => Promise.resolve('client'));
    await opened;
    await completed();
    expect(ends).toEqual([{ type: 'stopped', reason: 'client' }]);
    close();
  });

  it('and whose result cannot be read now is read again when it is heard of again', async () => {
    let isAway = true;
    const stopReason = (): Promise<undefined> =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined);
    const { opened, completed, ends, close } = watched(stopReason);
    await opened;
    await completed();
    expect(ends).toEqual([]);
    isAway = false;
    await completed();
    expect(ends.map(({ type }) => type)).toEqual(['completed']);
    close();
  });
});

describe('a job that is not found', () => {
  it('while Redis takes it is not queued again', async () => {
    const gate = Promise.withResolvers<void>();
    const { opened, removed, entered, ends, close } = watched(undefined, () => gate.promise);
    await removed();
    gate.resolve();
    await opened;
    expect([entered, ends]).toEqual([['first'], []]);
    close();
  });

  it('is queued again once, however often that is heard meanwhile', async () => {
    let gate: Promise<void> = Promise.resolve();
    const { opened, removed, entered, ends, close } = watched(undefined, () => gate);
    await opened;
    const again = Promise.withResolvers<void>();
    gate = again.promise;
    for (let heard = 0; heard < 12; heard++) await removed();
    expect([entered, ends]).toEqual([['first', 'again'], []]);
    again.resolve();
    await new Promise(resolve => setImmediate(resolve));
    await removed();
    expect([entered, ends]).toEqual([['first', 'again', 'again'], []]);
    close();
  });
});
