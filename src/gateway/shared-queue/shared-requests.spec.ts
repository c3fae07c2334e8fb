import { type PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
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

const closes: (() => void)[] = [];
afterEach(() => closes.splice(0).forEach(close => close()));

/** A request whose job Redis has taken. */
async function started(setting?: Setting) {
  const all = watched(setting);
  closes.push(all.close);
  await all.opened;
  return all;
}

describe('a job that is completed', () => {
  const { value: _, execution: __, ...fields } = JSON.parse(COMPLETED) as Record<string, unknown>;
  const error = { code: 'invalid_audio', message: 'no sound' };

  it.each([
    ['a failure', JSON.stringify({ ...fields, outcome: 'failed', error }), 'invalid_audio'],
    ['what cannot be read', '{}', 'engine_failed'],
  ])('with %s fails its request', async (___, result, code) => {
    const { completed, ends } = await started();
    await completed(result);
    expect(ends).toEqual([{ type: 'failed', error: expect.objectContaining({ code }) }]);
  });

  it('completes its request, once, however often that is heard', async () => {
    const { completed, ends } = await started();
    await completed();
    await completed();
    expect(ends.map(({ type }) => type)).toEqual(['completed']);
  });

  it('and was cancelled for all by then ends as cancelled', async () => {
    const { completed, ends } = await started({
      stopReason: () => Promise.resolve('client'),
    });
    await completed();
    expect(ends).toEqual([{ type: 'stopped', reason: 'client' }]);
  });

  it('and whose result cannot be read now is read again when it is heard of again', async () => {
    let isAway = true;
    const stopReason = (): Promise<undefined> =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined);
    const { completed, ends } = await started({ stopReason });
    await completed();
    expect(ends).toEqual([]);
    isAway = false;
    await completed();
    expect(ends.map(({ type }) => type)).toEqual(['completed']);
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
    const { removed, entered, ends } = await started({ queued: () => gate });
    const again = Promise.withResolvers<void>();
    gate = again.promise;
    for (let heard = 0; heard < 12; heard++) await removed();
    expect([entered, ends]).toEqual([['first', 'again'], []]);
    again.resolve();
    await new Promise(resolve => setImmediate(resolve));
    await removed();
    expect([entered, ends]).toEqual([['first', 'again', 'again'], []]);
  });
});

const TAKEN = { taken: true, finished: false, workerId: 'w', priority: 3 };
const LEASED = { workerId: 'w', groupId: JOB, aged: false };
const settled = () => new Promise(setImmediate);
const namesOf = (calls: unknown[][]): unknown[] => calls.map(([name]) => name);

describe('a request in the shared queue', () => {
  it('has a worker, loses it, and is answered by the next', async () => {
    const { heard, told, time, ends, calls, completed, requests } = await started({
      facts: TAKEN,
    });
    for (let nth = 0; nth < 2; nth++) await heard({ event: 'active' });
    time.nowMs = 5;
    for (let nth = 0; nth < 2; nth++) await heard({ event: 'stalled' });
    await completed();
    expect(told).toEqual([
      ['accepted'],
      ['leased', LEASED],
      ['requeued', true],
      ['leased', LEASED],
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
    const { completed, told, calls } = await started();
    await completed(JSON.stringify(failed));
    expect(told).toEqual([['accepted'], ['leased', LEASED]]);
    expect(calls).toContainEqual(['answered', { model: MODEL, jobId: JOB }, undefined]);
  });

  it('is neither looked for nor timed once it has ended, nor is any when the gateway ends', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { completed, looks, back, requests } = await started();
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
    const { heard, time, ends } = await started({ facts: TAKEN, queueDeadlineMs: 100 });
    await heard({ event: 'active' });
    time.nowMs = 50;
    await heard({ event: 'stalled' });
    jest.advanceTimersByTime(99);
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(ends).toEqual([{ type: 'expired' }]);
    jest.useRealTimers();
  });

  it('whose job is gone at its worker is told as lost, and waits again', async () => {
    const setting: Setting = { facts: TAKEN };
    const { heard, removed, told } = await started(setting);
    await heard({ event: 'active' });
    delete setting.facts;
    await removed();
    expect(told.at(-1)).toEqual(['requeued', true]);
  });

  it('that is cancelled while its job is looked for is not queued again', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { removed, requests, shared, entered } = await started({
      stopReason: () => gate.promise,
    });
    await removed();
    await requests.cancel(shared, 'client');
    gate.resolve(undefined);
    await settled();
    expect(entered).toEqual(['first']);
  });

  it('that joins a job learns at once where that stands', async () => {
    const { told } = await started({ facts: TAKEN, joins: true });
    expect(told).toEqual([['accepted'], ['leased', LEASED]]);
  });

  it('whose workers all died is lost', async () => {
    const { heard, ends } = await started();
    await heard({ event: 'failed' });
    expect(ends).toEqual([{ type: 'lost' }]);
  });

  it('whose job is lost time and again is lost', async () => {
    const { removed, entered, ends } = await started();
    for (let nth = 0; nth < 12; nth++) await removed();
    expect([entered.length, ends]).toEqual([11, [{ type: 'lost' }]]);
  });

  it.each([
    ['client', { type: 'stopped', reason: 'client' }],
    ['queue_timeout', { type: 'expired' }],
  ])('whose job is gone since it was stopped for %s ends so', async (reason, end) => {
    const { removed, entered, ends } = await started({
      stopReason: () => Promise.resolve(reason),
    });
    await removed();
    expect([entered, ends]).toEqual([['first'], [end]]);
  });

  it('is cancelled without a report, and its job stopped', async () => {
    const { requests, shared, ends, calls } = await started();
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
    const { ends, calls } = await started({ queueDeadlineMs: 0 });
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
    const { requests, shared } = await started();
    requests.forget(new SharedRequest(shared.request, shared.reports, shared.ref));
    expect(requests.get(shared.ref)).toBe(shared);
    requests.forget(shared);
    expect(requests.get(shared.ref)).toBeUndefined();
  });

  it('has the weight that its tenant has now while it waits', async () => {
    const { heard, weights, calls } = await started({ facts: TAKEN });
    weights.next();
    await heard({ event: 'active' });
    weights.next();
    expect(calls).toEqual([['weigh', MODEL, undefined]]);
  });

  it('whose result was removed is queued again', async () => {
    const { completed, entered } = await started({
      load: () => Promise.reject(new BlobMissing('b')),
    });
    await completed();
    expect(entered).toEqual(['first', 'again']);
  });

  it('is answered with the transcript of its worker', async () => {
    const transcript = { text: 'heard', segments: [] };
    const value = { kind: 'transcript', transcript };
    const { completed, ends } = await started();
    await completed(JSON.stringify({ ...(JSON.parse(COMPLETED) as object), value }));
    expect(ends).toMatchObject([{ reply: { kind: 'transcript', transcript } }]);
  });
});

describe('speech in the shared queue', () => {
  const value = { kind: 'speech', blob: 'b', contentType: 'a', sampleRate: 1, durationS: 2 };
  const SPOKEN = JSON.stringify({ ...(JSON.parse(COMPLETED) as object), value });

  it('is answered once all of it was sent', async () => {
    const { task } = synthesize('text');
    const { completed, ends, calls } = await started({ payload: task });
    await completed(SPOKEN);
    await settled();
    expect(ends).toMatchObject([{ type: 'completed', reply: { durationS: 2, lateS: 0 } }]);
    expect(String((task.sink.audio as PassThrough).read())).toBe('spoken');
    expect(calls).toContainEqual(['forget', { model: MODEL, jobId: JOB }]);
    expect(calls).toContainEqual(['answered', { model: MODEL, jobId: JOB }, 'b']);
  });

  it('that is heard before its worker is known is asked after, and then sent', async () => {
    const { task } = synthesize('text');
    const { spoken, told } = await started({ payload: task, facts: TAKEN });
    spoken(0);
    await settled();
    expect([told, (task.sink.audio as PassThrough).readableLength]).toEqual([
      [['accepted'], ['leased', LEASED]],
      2,
    ]);
  });

  it('fails when its worker dies after some of it was sent', async () => {
    const { spoken, heard, ends, calls } = await started({
      payload: synthesize('text').task,
      facts: TAKEN,
    });
    spoken(0);
    await settled();
    await heard({ event: 'stalled' });
    expect(ends).toMatchObject([{ type: 'failed', error: { code: 'worker_lost' } }]);
    expect(calls.at(-1)?.slice(0, 3)).toEqual(['stop', { model: MODEL, jobId: JOB }, 'disconnect']);
  });

  it('fails when it cannot be sent', async () => {
    const { spoken, completed, ends } = await started({
      payload: synthesize('text').task,
      facts: TAKEN,
    });
    spoken(0);
    await settled();
    await completed(SPOKEN.replace('"b"', '"other"'));
    await settled();
    expect(ends).toMatchObject([{ type: 'failed', error: { code: 'worker_lost' } }]);
  });
});
