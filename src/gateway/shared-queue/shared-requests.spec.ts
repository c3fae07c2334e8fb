import { type PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { synthesize } from '../../../test/support/pool-harness.js';
import {
  COMPLETED,
  JOB,
  MODEL,
  type Setting,
  watched,
} from '../../../test/support/shared-requests-rig.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { SharedRequest } from './shared-request.js';

Logger.overrideLogger(false);

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
