import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Subject } from 'rxjs';
import { type PlacedJob } from './payload-blobs.js';
import { jobResultOf, RequestJobs } from './request-jobs.js';
import { type SharedRequest } from './shared-request.js';

type Parts = ConstructorParameters<typeof RequestJobs>;
Logger.overrideLogger(false);

const keys = new QueueKeys('test');
const ref = { model: 'm', jobId: 'j' };
const PLACED = { job: { id: 'r', fingerprint: 'own' } } as PlacedJob;
const phases = { workerId: 'w', takenMs: 1, batchWaitMs: 0, totalMs: 1, attempts: 1 };
const COMPLETED = JSON.stringify({
  v: 1,
  outcome: 'completed',
  phases,
  execution: { batchSize: 1 },
  value: { kind: 'embeddings', vectors: '', dimensions: 1 },
});
const RESULT_TTL_MS = 30_000;
const away = () => Promise.reject(new Error('away'));

describe('jobs in the shared queue', () => {
  const queues = {
    facts: jest.fn(),
    remove: jest.fn(),
    add: jest.fn(),
    join: jest.fn(),
    data: jest.fn(),
    answered: jest.fn(),
    stop: jest.fn(),
    sweep: jest.fn(),
    close: jest.fn(),
    refs: ({ id }: { id: string }) => ['m', 'n'].map(model => ({ model, jobId: id })),
  };
  const blobs = { sweep: jest.fn(), removeLater: jest.fn() };
  const get = jest.fn();
  let link: { enabled: boolean; usable: boolean };
  let listener: EventEmitter & { subscribe: unknown };
  let jobs: RequestJobs;
  /** Commands that were sent, in order. */
  let sent: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    [sent, link] = [[], { enabled: true, usable: true }];
    for (const [name, mock] of [...Object.entries(queues), ...Object.entries(blobs)])
      if ('mockReset' in mock)
        mock.mockReset().mockImplementation(() => {
          sent.push(name);
          return Promise.resolve();
        });
    get.mockReset();
    queues.facts.mockImplementation(() => Promise.resolve([undefined, undefined]));
    listener = Object.assign(new EventEmitter(), { subscribe: jest.fn(away) });
    jobs = made();
    jobs.onApplicationBootstrap();
  });
  afterEach(async () => {
    await jobs.onApplicationShutdown();
    jest.useRealTimers();
  });

  const made = (keyRing?: object): RequestJobs =>
    new RequestJobs(
      Object.assign(link, {
        keys,
        redis: { get },
        listener: () => listener,
        access: { resultTtlMs: RESULT_TTL_MS },
      }) as unknown as Parts[0],
      queues as unknown as Parts[1],
      blobs as unknown as Parts[2],
      keyRing as Parts[3],
    );

  it.each([
    ['is added where there is none', undefined, ['watch', 'add'], false],
    ['joins one that is not finished', { finished: false }, ['watch', 'join'], true],
    [
      'joins one that succeeded',
      { finished: true, returnValue: COMPLETED },
      ['watch', 'join'],
      true,
    ],
    ['replaces one that did not', { finished: true }, ['remove', 'watch', 'add'], false],
  ])('a job %s', async (_, found, commands, joined) => {
    queues.facts.mockImplementation(() => Promise.resolve([found]));
    const shared = { ref, attempt: 'a' as SharedRequest['attempt'] };
    expect(await jobs.enter(shared, PLACED, () => void sent.push('watch'))).toBe(joined);
    expect(sent).toEqual(commands);
    const [add, join] = [queues.add.mock.calls, queues.join.mock.calls];
    expect([...add, ...join]).toEqual([joined ? [ref, 'a'] : [PLACED, ref]]);
  });

  it('that is gone is queued again', async () => {
    await jobs.again(ref, PLACED);
    expect(sent).toEqual(['remove', 'add']);
  });

  it.each([
    [undefined, undefined],
    [{ fingerprint: 'own' }, undefined],
    [{ fingerprint: 'other' }, 'duplicate_request_id'],
  ])('of that id with %j is refused with %s', async (data, code) => {
    queues.data.mockImplementation(() => Promise.resolve(data));
    const error: unknown = await jobs.rejectOther(ref, PLACED).catch((thrown: unknown) => thrown);
    expect((error as { code?: string } | undefined)?.code).toBe(code);
  });

  it('that is answered goes soon, and then the blob of its result', async () => {
    queues.answered.mockImplementation(() => Promise.resolve(9));
    await jobs.answered(ref, undefined);
    expect(blobs.removeLater).not.toHaveBeenCalled();
    await jobs.answered(ref, 'b');
    expect(blobs.removeLater.mock.calls).toEqual([['b', 9]]);
    queues.answered.mockImplementation(away);
    await jobs.answered(ref, 'b');
    expect(blobs.removeLater).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['client', undefined],
    ['operator', undefined],
    ['unload', undefined],
    ['load_failed', undefined],
    ['disconnect', 'a'],
    ['shutdown', 'a'],
    ['queue_timeout', 'a'],
  ] as const)('is stopped for %s unless the attempt %s was joined', async (reason, attempt) => {
    queues.stop.mockImplementation(() => Promise.resolve(true));
    expect(await jobs.stopped(ref, reason, 'a')).toBe(true);
    expect([queues.stop.mock.calls, queues.remove.mock.calls]).toEqual([
      [[ref, reason, attempt]],
      [[ref]],
    ]);
  });

  it('that had finished is not removed by a stop', async () => {
    queues.stop.mockImplementation(() => Promise.resolve(false));
    expect([await jobs.stopped(ref, 'client'), sent]).toEqual([false, []]);
  });

  it('is stopped as well as can be where its caller has the answer', async () => {
    await jobs.stop(ref, 'disconnect', 'a');
    expect(queues.stop.mock.calls).toEqual([[ref, 'disconnect', 'a']]);
    queues.stop.mockImplementation(away);
    await jobs.stop(ref, 'disconnect', 'a');
  });

  it.each([
    [[false, true], true],
    [[false, false], false],
  ])('is stopped at whatever model it is known: %j', async (stopped, expected) => {
    queues.facts.mockImplementation(() => Promise.resolve([{}, {}]));
    for (const is of stopped) queues.stop.mockImplementationOnce(() => Promise.resolve(is));
    expect(await jobs.stopKnown({ tenant: undefined, id: 'r' }, 'client')).toBe(expected);
    expect(queues.stop).toHaveBeenCalledTimes(2);
  });

  it('that is not known is not stopped', async () => {
    expect(await jobs.stopKnown({ tenant: undefined, id: 'r' }, 'client')).toBe(false);
    expect(queues.stop).not.toHaveBeenCalled();
  });

  const note = (reason: string) => ({ queue: 'q', jobId: 'j', reason });
  const NOTES = [
    [JSON.stringify(note('client')), 'client'],
    [JSON.stringify(note('queue_timeout')), 'queue_timeout'],
    [JSON.stringify(note('disconnect')), undefined],
    [JSON.stringify(note('shutdown')), undefined],
    ['no note', undefined],
    [null, undefined],
  ] as const;

  it.each(NOTES)('with the note %s was stopped for all by: %s', async (json, reason) => {
    get.mockImplementation(() => Promise.resolve(json));
    expect(await jobs.stopReason(ref)).toBe(reason);
    expect(get).toHaveBeenCalledWith(keys.stop(keys.queue('m'), 'j'));
  });

  it('are stopped by notes to all, until this gateway ends', async () => {
    const [heard, complete] = [jest.fn(), jest.fn()];
    jobs.stops$.subscribe({ next: heard, complete });
    expect(listener.subscribe).toHaveBeenCalledWith(keys.stops);
    for (const [json] of NOTES) if (json) listener.emit('message', keys.stops, json);
    listener.emit('message', 'other', NOTES[0][0]);
    expect(heard.mock.calls).toEqual([[note('client')], [note('queue_timeout')]]);
    await jobs.onApplicationShutdown();
    expect(complete).toHaveBeenCalledTimes(1);
  });

  it('and blobs that are left are swept up, at each their time, until the gateway ends', async () => {
    await jest.advanceTimersByTimeAsync(RESULT_TTL_MS);
    expect(sent).toEqual(['sweep']);
    expect(queues.sweep).toHaveBeenCalledTimes(1);
    link.usable = false;
    blobs.sweep.mockImplementation(away);
    await jest.advanceTimersByTimeAsync(RESULT_TTL_MS);
    expect([queues.sweep.mock.calls.length, blobs.sweep.mock.calls.length]).toEqual([1, 1]);
    await jobs.onApplicationShutdown();
    expect([jest.getTimerCount(), queues.close.mock.calls.length]).toEqual([0, 1]);
  });

  it('are none of an embedded queue', async () => {
    await jobs.onApplicationShutdown();
    link.enabled = false;
    const embedded = made();
    embedded.onApplicationBootstrap();
    expect([jest.getTimerCount(), listener.listenerCount('message')]).toEqual([0, 1]);
  });

  it('have the weights of tenants, where keys have', () => {
    const [changed$, changed] = [new Subject(), jest.fn()];
    made({ changed$ }).weightsChanged$.subscribe(changed);
    jobs.weightsChanged$.subscribe(changed);
    changed$.next(undefined);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it.each([
    [undefined, undefined],
    ['{}', undefined],
    [COMPLETED, 'completed'],
  ])('that returned %s have the outcome %s', (json, outcome) => {
    expect(jobResultOf(json)?.outcome).toBe(outcome);
  });
});
