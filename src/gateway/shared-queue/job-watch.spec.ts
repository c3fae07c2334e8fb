import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { QueueJobClass, QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Subject } from 'rxjs';
import { JobWatch } from './job-watch.js';
import { type SharedRequest } from './shared-request.js';

type Parts = ConstructorParameters<typeof JobWatch>;
Logger.overrideLogger(false);

const keys = new QueueKeys('test');
const TAKEN = { taken: true, finished: false, workerId: 'w', priority: QueueJobClass.BATCH };
const EVERY_MS = 5000;

describe('the jobs of own requests', () => {
  const reprioritized = jest.fn();
  const request = (jobId: string, model = 'm', priority?: string) =>
    ({
      ref: { model, jobId },
      reprioritized,
      placed: priority && { job: { priority } },
    }) as unknown as SharedRequest;
  const one = request('one');
  const listener = {
    leased: jest.fn(),
    requeued: jest.fn(),
    finished: jest.fn(),
    failed: jest.fn(),
    stopped: jest.fn(),
    gone: jest.fn(),
  };
  const facts = jest.fn();
  let link: { keys: QueueKeys; usable: boolean; back$: Subject<void> };
  let events$: Subject<Partial<QueueEvent>>;
  let stops$: Subject<object>;
  let watch: JobWatch;

  beforeEach(() => {
    jest.useFakeTimers();
    for (const mock of [facts, reprioritized, ...Object.values(listener)]) mock.mockReset();
    facts.mockImplementation(() => Promise.resolve([TAKEN]));
    link = { keys, usable: true, back$: new Subject() };
    [events$, stops$] = [new Subject(), new Subject()];
    const jobs = { link, stops$, queues: { facts } };
    watch = new JobWatch(
      jobs as unknown as Parts[0],
      { events$ } as unknown as Parts[1],
      listener as unknown as Parts[2],
    );
    watch.begin();
    watch.add(one);
  });
  afterEach(() => {
    watch.close();
    jest.useRealTimers();
  });

  /** Calls that the listener had. */
  const told = () =>
    Object.entries(listener).flatMap(([name, { mock }]) =>
      mock.calls.map(([, ...rest]) => [name, ...rest]),
    );
  async function heard(event: Partial<QueueEvent>) {
    events$.next({ model: 'm', jobId: 'one', ...event });
    await jest.advanceTimersByTimeAsync(0);
    return told();
  }

  it.each([
    [{ event: 'completed', returnvalue: 'x' }, ['finished', 'x']],
    [{ event: 'failed', failedReason: 'x' }, ['failed', 'x']],
    [{ event: 'stalled' }, ['requeued', true]],
    [{ event: 'waiting', prev: 'active' }, ['requeued', false]],
    [{ event: 'active' }, ['leased', 'w', false]],
    [{ event: 'removed' }, ['leased', 'w', false]],
  ])('that tell %j are %j', async (event, expected) => {
    expect(await heard(event)).toEqual([expected]);
  });

  it.each([
    [{ event: 'waiting', prev: 'delayed' }],
    [{ event: 'added', prev: 'active' }],
    [{ event: 'completed', model: 'other' }],
    [{ event: 'completed', jobId: 'other' }],
  ])('hear nothing in %j', async event => {
    expect([await heard(event), facts.mock.calls]).toEqual([[], []]);
  });

  it('were lost with their worker where both is told at once', async () => {
    events$.next({ model: 'm', jobId: 'one', event: 'waiting', prev: 'active' });
    expect(await heard({ event: 'stalled' })).toEqual([
      ['requeued', true],
      ['requeued', false],
    ]);
  });

  it.each(['realtime', 'batch'])('change to the priority %s', async priority => {
    await heard({ event: 'reprioritized', priority });
    expect(reprioritized).toHaveBeenCalledWith(priority);
  });

  it.each([
    [undefined, ['gone']],
    [{ ...TAKEN, failedReason: '' }, ['failed', '']],
    [{ ...TAKEN, finished: true, returnValue: 'x' }, ['finished', 'x']],
    [{ ...TAKEN, taken: false }, ['requeued', true]],
    [{ ...TAKEN, workerId: undefined }, ['leased', '', false]],
    [{ ...TAKEN, priority: QueueJobClass.AGED }, ['leased', 'w', true]],
  ])('that are read as %j are told as %j', async (found, expected) => {
    facts.mockReturnValue(Promise.resolve([found]));
    await watch.look();
    expect(told()).toEqual([expected]);
  });

  it('of REALTIME are not aged', async () => {
    watch.add(request('one', 'm', 'realtime'));
    facts.mockReturnValue(Promise.resolve([{ ...TAKEN, priority: QueueJobClass.AGED }]));
    await watch.look();
    expect(told()).toEqual([['leased', 'w', false]]);
  });

  it('are read every five seconds, and when Redis is back, while it is there', async () => {
    await jest.advanceTimersByTimeAsync(EVERY_MS);
    expect(facts.mock.calls).toEqual([[[one.ref]]]);
    link.back$.next();
    expect(facts).toHaveBeenCalledTimes(2);
    link.usable = false;
    await jest.advanceTimersByTimeAsync(EVERY_MS);
    expect(facts).toHaveBeenCalledTimes(2);
    link.usable = true;
    watch.close();
    await jest.advanceTimersByTimeAsync(EVERY_MS);
    expect(facts).toHaveBeenCalledTimes(2);
  });

  it('that are no longer followed are not read, nor told', async () => {
    watch.add(request('two'));
    facts.mockImplementation(() => {
      watch.delete(one);
      return Promise.resolve([TAKEN, TAKEN]);
    });
    await watch.look();
    expect(told()).toHaveLength(1);
    await watch.look([one]);
    expect([facts.mock.calls.length, watch.has(one)]).toEqual([1, false]);
  });

  it('stay followed when an earlier one of that id ends', () => {
    watch.delete(request('one'));
    expect(watch.has(one)).toBe(true);
  });

  it('are read again later when that fails', async () => {
    facts.mockReturnValue(Promise.reject(new Error('away')));
    await watch.look();
    expect(told()).toEqual([]);
  });

  it('are stopped by a note that names their queue', () => {
    stops$.next({ jobId: 'one', queue: keys.queue('other'), reason: 'client' });
    stops$.next({ jobId: 'other', queue: keys.queue('m'), reason: 'client' });
    expect(told()).toEqual([]);
    stops$.next({ jobId: 'one', queue: keys.queue('m'), reason: 'client' });
    expect(told()).toEqual([['stopped', 'client']]);
  });
});
