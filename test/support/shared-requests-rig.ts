import { type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { NEVER, Subject } from 'rxjs';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type QueueEnd, type QueueReports } from '../../src/gateway/registry/request-queue.port.js';
import { type PayloadBlobs, type PlacedJob } from '../../src/gateway/shared-queue/payload-blobs.js';
import { type QueueEvents } from '../../src/gateway/shared-queue/queue-events.js';
import { type RequestJobs } from '../../src/gateway/shared-queue/request-jobs.js';
import { SharedRequest } from '../../src/gateway/shared-queue/shared-request.js';
import { SharedRequests } from '../../src/gateway/shared-queue/shared-requests.js';
import { type SpeechFeed } from '../../src/gateway/shared-queue/speech-relay.js';
import { type WorkerPoolService } from '../../src/gateway/worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../../src/worker-client/worker-task.js';
import { transcribeTask } from './pool-harness.js';
import { aKey } from './requests.js';

export const [MODEL, JOB] = ['m', 'tenant.r'];
const VALUE = {
  kind: 'embeddings',
  ...{ vectors: Buffer.alloc(4).toString('base64'), dimensions: 1 },
};
export const COMPLETED = JSON.stringify({
  ...{ v: 1, outcome: 'completed', value: VALUE },
  phases: { workerId: 'w', takenMs: 1, batchWaitMs: 2, totalMs: 1, attempts: 1 },
  execution: { batchSize: 1 },
});

const nothing = (): undefined => undefined;

export interface Setting {
  /** What its note says. */
  readonly stopReason?: () => Promise<string | undefined>;
  /** When Redis has taken it, the first time and each time again. */
  readonly queued?: () => Promise<void>;
  readonly joins?: boolean;
  /** What is read of its job; undefined: it is not found. */
  facts?: object;
  readonly payload?: WorkerTask;
  readonly queueDeadlineMs?: number;
  /** Of the value of its result. */
  readonly load?: (value: unknown) => Promise<unknown>;
}

/** One request in the queue, what was reported of it, and what was told to others. */
export function watched(setting: Setting = {}) {
  const {
    stopReason = () => Promise.resolve(undefined),
    queued = () => Promise.resolve(),
    joins = false,
    payload = transcribeTask('', () => Promise.resolve(Buffer.alloc(0))),
    load = (value: unknown) => Promise.resolve(value),
    queueDeadlineMs = 60_000,
  } = setting;
  const events = new Subject<QueueEvent>();
  const weights = new Subject<void>();
  const ends: QueueEnd[] = [];
  const entered: string[] = [];
  /** Reports of all but its end. */
  const told: unknown[][] = [];
  const calls: unknown[][] = [];
  const called =
    (name: string) =>
    (...args: unknown[]): Promise<void> => {
      calls.push([name, ...args]);
      return Promise.resolve();
    };
  const looks: unknown[] = [];
  const back = new Subject<void>();
  const time = { nowMs: 0 };
  const jobs = {
    ...{
      link: { enabled: true, back$: back, usable: true, failure: () => new Error('full') },
      stops$: NEVER,
      weightsChanged$: weights,
      stopReason,
    },
    queues: {
      facts: (refs: unknown) => {
        looks.push(refs);
        return Promise.resolve([setting.facts]);
      },
      weigh: called('weigh'),
    },
    enter: async (_: unknown, __: unknown, watch: () => void): Promise<boolean> => {
      watch();
      entered.push('first');
      await queued();
      return joins;
    },
    again: async (): Promise<void> => {
      entered.push('again');
      await queued();
    },
    ...{ stop: called('stop'), answered: called('answered') },
  };
  // eslint-disable-next-line @typescript-eslint/require-await -- blobs are read as streams
  const read = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('spoken');
  };
  const blobs = { load, read, remove: called('remove'), removeLater: nothing };
  let piece: ((piece: object) => void) | undefined;
  const feed = {
    listen: (_: unknown, listener: typeof piece) => void (piece = listener),
    forget: called('forget'),
  };
  const requests = new SharedRequests(
    jobs as unknown as RequestJobs,
    { events$: events } as unknown as QueueEvents,
    blobs as unknown as PayloadBlobs,
    feed as unknown as SpeechFeed,
    { of: () => ({ reported: called('reported') }) } as unknown as WorkerPoolService,
    { nowMs: () => time.nowMs },
  );
  requests.onModuleInit();
  const report =
    (name: string) =>
    (_: unknown, ...args: unknown[]): void =>
      void told.push([name, ...args]);
  const reports = {
    ...{ accepted: report('accepted'), leased: report('leased'), computed: report('computed') },
    ...{ requeued: report('requeued'), ended: (_: unknown, end: QueueEnd) => void ends.push(end) },
  };
  const task = {
    ...{ id: 'r', key: aKey('r'), model: MODEL, priority: RequestPriority.BATCH, payload },
    ...{ costMs: 1, bytes: 0, enqueuedAtMs: 0, queueDeadlineMs, inferenceTimeoutMs: 1000 },
  };
  const shared = new SharedRequest(task, reports as unknown as QueueReports, {
    ...{ model: MODEL, jobId: JOB },
  });
  requests.add(shared);
  const opened = requests.open(shared, {
    ...{ job: {}, costMs: 1, blobs: ['input'] },
  } as unknown as PlacedJob);
  const heard = async (event: Partial<QueueEvent>): Promise<void> => {
    events.next({ model: MODEL, jobId: JOB, event: 'removed', ...event });
    await new Promise(resolve => setImmediate(resolve));
  };
  return {
    ...{ ends, entered, opened, heard, told, calls, shared, requests, time, weights },
    ...{ looks, back },
    spoken: (offset: number) =>
      piece?.({ blob: 'b', offset, bytes: Buffer.from('sp'), contentType: 'a', sampleRate: 1 }),
    completed: (returnvalue = COMPLETED) => heard({ event: 'completed', returnvalue }),
    removed: () => heard({ event: 'removed' }),
    close: (): void => {
      requests.onApplicationShutdown();
      shared.stopQueueDeadline();
    },
  };
}
