import { type PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { NEVER, Subject } from 'rxjs';
import { synthesize, transcribeTask } from '../../../test/support/pool-harness.js';
import { aKey } from '../../../test/support/requests.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type WorkerTask } from '../../worker-client/worker-task.js';
import { type QueueEnd, type QueueReports } from '../registry/request-queue.port.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { type QueueEvents } from './queue-events.js';
import { type RequestJobs } from './request-jobs.js';
import { SharedRequest } from './shared-request.js';
import { SharedRequests } from './shared-requests.js';
import { type SpeechFeed } from './speech-relay.js';

Logger.overrideLogger(false);

const [MODEL, JOB] = ['m', 'tenant.r'];
const VALUE = {
  kind: 'embeddings',
  ...{ vectors: Buffer.alloc(4).toString('base64'), dimensions: 1 },
};
const COMPLETED = JSON.stringify({
  ...{ v: 1, outcome: 'completed', value: VALUE },
  phases: { workerId: 'w', takenMs: 1, batchWaitMs: 2, totalMs: 1, attempts: 1 },
  execution: { batchSize: 1 },
});

const nothing = (): undefined => undefined;

interface Setting {
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
function watched(setting: Setting = {}) {
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
    const { opened, completed, ends, close } = watched({
      stopReason: () => Promise.resolve('client'),
    });
    await opened;
    await completed();
    expect(ends).toEqual([{ type: 'stopped', reason: 'client' }]);
    close();
  });

  it('and whose result cannot be read now is read again when it is heard of again', async () => {
    let isAway = true;
    const stopReason = (): Promise<undefined> =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined);
    const { opened, completed, ends, close } = watched({ stopReason });
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
    const { opened, removed, entered, ends, close } = watched({ queued: () => gate.promise });
    await removed();
    gate.resolve();
    await opened;
    expect([entered, ends]).toEqual([['first'], []]);
    close();
  });

  it('is queued again once, however often that is heard meanwhile', async () => {
    let gate: Promise<void> = Promise.resolve();
    const { opened, removed, entered, ends, close } = watched({ queued: () => gate });
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

const TAKEN = { taken: true, finished: false, workerId: 'w', priority: 3 };
const LEASED = { workerId: 'w', groupId: JOB, aged: false };
const settled = () => new Promise(setImmediate);
const namesOf = (calls: unknown[][]): unknown[] => calls.map(([name]) => name);

describe('a request in the shared queue', () => {
  it('has a worker, loses it, and is answered by the next', async () => {
    const { opened, heard, told, time, ends, calls, completed, requests } = watched({
      facts: TAKEN,
    });
    await opened;
    for (let nth = 0; nth < 2; nth++) await heard({ event: 'active' });
    time.nowMs = 5;
    for (let nth = 0; nth < 2; nth++) await heard({ event: 'stalled' });
    await completed();
    expect(told).toEqual([
      ...[['accepted'], ['leased', LEASED], ['requeued', true], ['leased', LEASED]],
      ['computed', 7, 2],
    ]);
    expect(ends).toMatchObject([{ type: 'completed', reply: { kind: 'embeddings' } }]);
    expect(calls).toEqual([
      ['reported', { batchSize: 1 }],
      ['remove', ['input']],
      ['answered', { model: MODEL, jobId: JOB }, undefined],
    ]);
    expect(requests.all()).toEqual([]);
  });

  it('that failed at its worker had that worker, and its job is answered', async () => {
    const error = { code: 'invalid_audio', message: 'no sound' };
    const failed = { ...(JSON.parse(COMPLETED) as object), outcome: 'failed', error };
    const { opened, completed, told, calls } = watched();
    await opened;
    await completed(JSON.stringify(failed));
    expect(told).toEqual([['accepted'], ['leased', LEASED]]);
    expect(calls).toContainEqual(['answered', { model: MODEL, jobId: JOB }, undefined]);
  });

  it('is neither looked for nor timed once it has ended, nor is any when the gateway ends', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { opened, completed, looks, back, requests } = watched();
    await opened;
    expect(jest.getTimerCount()).toBe(2);
    await completed();
    back.next();
    expect([looks, jest.getTimerCount()]).toEqual([[], 1]);
    requests.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('that lost its worker expires at its queue deadline, the time with the worker apart', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { opened, heard, time, ends, close } = watched({ facts: TAKEN, queueDeadlineMs: 100 });
    await opened;
    await heard({ event: 'active' });
    time.nowMs = 50;
    await heard({ event: 'stalled' });
    jest.advanceTimersByTime(99);
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(ends).toEqual([{ type: 'expired' }]);
    close();
    jest.useRealTimers();
  });

  it('whose job is gone at its worker is told as lost, and waits again', async () => {
    const setting: Setting = { facts: TAKEN };
    const { opened, heard, removed, told, close } = watched(setting);
    await opened;
    await heard({ event: 'active' });
    delete setting.facts;
    await removed();
    expect(told.at(-1)).toEqual(['requeued', true]);
    close();
  });

  it('that is cancelled while its job is looked for is not queued again', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { opened, removed, requests, shared, entered } = watched({
      stopReason: () => gate.promise,
    });
    await opened;
    await removed();
    await requests.cancel(shared, 'client');
    gate.resolve(undefined);
    await settled();
    expect(entered).toEqual(['first']);
  });

  it('that joins a job learns at once where that stands', async () => {
    const { opened, told, close } = watched({ facts: TAKEN, joins: true });
    await opened;
    expect(told).toEqual([['accepted'], ['leased', LEASED]]);
    close();
  });

  it('whose workers all died is lost', async () => {
    const { opened, heard, ends } = watched();
    await opened;
    await heard({ event: 'failed' });
    expect(ends).toEqual([{ type: 'lost' }]);
  });

  it('whose job is lost time and again is lost', async () => {
    const { opened, removed, entered, ends } = watched();
    await opened;
    for (let nth = 0; nth < 12; nth++) await removed();
    expect([entered.length, ends]).toEqual([11, [{ type: 'lost' }]]);
  });

  it.each([
    ['client', { type: 'stopped', reason: 'client' }],
    ['queue_timeout', { type: 'expired' }],
  ])('whose job is gone since it was stopped for %s ends so', async (reason, end) => {
    const { opened, removed, entered, ends } = watched({
      stopReason: () => Promise.resolve(reason),
    });
    await opened;
    await removed();
    expect([entered, ends]).toEqual([['first'], [end]]);
  });

  it('is cancelled without a report, and its job stopped', async () => {
    const { opened, requests, shared, ends, calls } = watched();
    await opened;
    await requests.cancel(shared, 'client');
    expect(ends).toEqual([]);
    expect(calls).toEqual([
      ['remove', ['input']],
      ['stop', shared.ref, 'client', shared.attempt],
    ]);
  });

  it('that is cancelled while its job is queued is stopped once it is there', async () => {
    const gate = Promise.withResolvers<void>();
    const { opened, requests, shared, calls } = watched({ queued: () => gate.promise });
    await settled();
    await requests.cancel(shared, 'client');
    gate.resolve();
    await opened;
    expect(namesOf(calls)).toEqual(['remove', 'stop', 'stop']);
    expect(requests.get(shared.ref)).toBeUndefined();
  });

  it('expires at its queue deadline, and its job is stopped', async () => {
    const { opened, ends, calls } = watched({ queueDeadlineMs: 0 });
    await opened;
    await new Promise(resolve => setTimeout(resolve));
    expect([ends, namesOf(calls)]).toEqual([[{ type: 'expired' }], ['remove', 'stop']]);
  });

  it('is refused by a full Redis, and waits for one that does not answer', async () => {
    const failing = (message: string) =>
      watched({ queued: () => Promise.reject(new Error(message)) });
    const full = failing('OOM command not allowed');
    await full.opened;
    expect(full.ends).toEqual([{ type: 'failed', error: new Error('full') }]);
    const away = failing('away');
    await away.opened;
    await away.heard({ event: 'failed' });
    expect(away.ends).toEqual([{ type: 'lost' }]);
  });

  it('is not forgotten for an earlier one of its id', async () => {
    const { opened, requests, shared, close } = watched();
    await opened;
    requests.forget(new SharedRequest(shared.request, shared.reports, shared.ref));
    expect(requests.get(shared.ref)).toBe(shared);
    requests.forget(shared);
    expect(requests.get(shared.ref)).toBeUndefined();
    close();
  });

  it('has the weight that its tenant has now while it waits', async () => {
    const { opened, heard, weights, calls, close } = watched({ facts: TAKEN });
    await opened;
    weights.next();
    await heard({ event: 'active' });
    weights.next();
    expect(calls).toEqual([['weigh', MODEL, undefined]]);
    close();
  });

  it('whose result was removed is queued again', async () => {
    const { opened, completed, entered, close } = watched({
      load: () => Promise.reject(new BlobMissing('b')),
    });
    await opened;
    await completed();
    expect(entered).toEqual(['first', 'again']);
    close();
  });

  it('that was stopped at its worker alone is queued again', async () => {
    const { opened, completed, entered, close } = watched();
    await opened;
    await completed(JSON.stringify({ v: 1, outcome: 'cancelled', phases: {} }));
    expect(entered).toEqual(['first', 'again']);
    close();
  });

  it('is answered with the transcript of its worker', async () => {
    const transcript = { text: 'heard', segments: [] };
    const value = { kind: 'transcript', transcript };
    const { opened, completed, ends } = watched();
    await opened;
    await completed(JSON.stringify({ ...(JSON.parse(COMPLETED) as object), value }));
    expect(ends).toMatchObject([{ reply: { kind: 'transcript', transcript } }]);
  });
});

describe('speech in the shared queue', () => {
  const value = { kind: 'speech', blob: 'b', contentType: 'a', sampleRate: 1, durationS: 2 };
  const SPOKEN = JSON.stringify({ ...(JSON.parse(COMPLETED) as object), value });

  it('is answered once all of it was sent', async () => {
    const { task } = synthesize('text');
    const { opened, completed, ends, calls } = watched({ payload: task });
    await opened;
    await completed(SPOKEN);
    await settled();
    expect(ends).toMatchObject([{ type: 'completed', reply: { durationS: 2, lateS: 0 } }]);
    expect(String((task.sink.audio as PassThrough).read())).toBe('spoken');
    expect(calls).toContainEqual(['forget', { model: MODEL, jobId: JOB }]);
    expect(calls).toContainEqual(['answered', { model: MODEL, jobId: JOB }, 'b']);
  });

  it('that is heard before its worker is known is asked after, and then sent', async () => {
    const { task } = synthesize('text');
    const { opened, spoken, told, close } = watched({ payload: task, facts: TAKEN });
    await opened;
    spoken(0);
    await settled();
    expect([told, (task.sink.audio as PassThrough).readableLength]).toEqual([
      ...[[['accepted'], ['leased', LEASED]], 2],
    ]);
    close();
  });

  it('fails when its worker dies after some of it was sent', async () => {
    const { opened, spoken, heard, ends, calls } = watched({
      ...{ payload: synthesize('text').task, facts: TAKEN },
    });
    await opened;
    spoken(0);
    await settled();
    await heard({ event: 'stalled' });
    expect(ends).toMatchObject([{ type: 'failed', error: { code: 'worker_lost' } }]);
    expect(calls.at(-1)?.slice(0, 3)).toEqual(['stop', { model: MODEL, jobId: JOB }, 'disconnect']);
  });

  it('fails when it cannot be sent', async () => {
    const { opened, spoken, completed, ends } = watched({
      ...{ payload: synthesize('text').task, facts: TAKEN },
    });
    await opened;
    spoken(0);
    await settled();
    await completed(SPOKEN.replace('"b"', '"other"'));
    await settled();
    expect(ends).toMatchObject([{ type: 'failed', error: { code: 'worker_lost' } }]);
  });
});
