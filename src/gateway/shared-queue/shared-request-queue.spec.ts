import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { request, synthesize, transcribeTask } from '../../../test/support/pool-harness.js';
import { aKey, aRealtimeRequest, aRef, aRequest } from '../../../test/support/requests.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type WorkerTask } from '../../worker-client/worker-task.js';
import { type QueueReports } from '../registry/request-queue.port.js';
import { SharedRequestQueue } from './shared-request-queue.js';

const { BATCH, REALTIME } = RequestPriority;
const heard = transcribeTask('', () => Promise.resolve(Buffer.alloc(0)));
const REPORTS = {} as QueueReports;
const UNAVAILABLE = new Error('queue_unavailable');

/** A request of this gateway that waits, unless told otherwise. */
const own = (priority: RequestPriority = BATCH, fields: object = {}, atMs = 0) => ({
  placed: {},
  isWaiting: true,
  ...fields,
  request: { ...aRequest('r', { priority, enqueuedAtMs: atMs }) },
});

describe('the queue that gateways share', () => {
  let all: object[];
  let workers: { pulling: boolean; pushed: boolean };
  let link: { enabled: boolean; usable: boolean };
  const listing = {
    live: jest.fn(),
    find: jest.fn(),
    depths: jest.fn(),
    otherwiseNamed: jest.fn(),
  };
  const jobs = { stopKnown: jest.fn(), stopEach: jest.fn(), stopped: jest.fn() };
  const queues = { reprioritize: jest.fn(), suspect: jest.fn() };
  const intake = { enter: jest.fn(), stop: jest.fn(), lastWaiting: new Map([['m', 4]]) };
  const requests = { get: jest.fn(), cancel: jest.fn() };
  let queue: SharedRequestQueue;

  const row = (id: string) => ({
    ref: { model: 'm', jobId: id },
    view: { id, tenant: undefined } as RequestView,
  });
  beforeEach(() => {
    for (const part of [listing, jobs, queues, requests, { e: intake.enter, s: intake.stop }])
      for (const mock of Object.values(part))
        mock.mockReset().mockImplementation(() => Promise.resolve());
    requests.get.mockReturnValue(undefined);
    listing.live.mockImplementation(() => Promise.resolve([row('a'), row('b')]));
    [all, link] = [[], { enabled: true, usable: true }];
    workers = { pulling: false, pushed: false };
    const linked = Object.assign(link, {
      demand: () => {
        if (!link.usable) throw UNAVAILABLE;
      },
      answered: (reply: unknown) => reply,
      look: (read: () => unknown, otherwise: unknown) =>
        Promise.resolve(link.usable ? read() : otherwise),
    });
    const parts = [
      { nowMs: () => 1000 },
      intake,
      { ...requests, all: () => all },
      listing,
      {
        ...jobs,
        link: linked,
        queues: { ...queues, ref: (_: string, { id }: { id: string }) => id },
      },
      { hasPulling: () => workers.pulling, hasPushed: () => workers.pushed },
    ];
    queue = new SharedRequestQueue(
      ...(parts as unknown as ConstructorParameters<typeof SharedRequestQueue>),
    );
  });

  const segmented: WorkerTask = { ...heard, onSegment: () => undefined };
  const generation = { kind: 'generate' } as WorkerTask;
  it.each([
    ['a transcription', heard, {}, true],
    ['a transcription while a worker is sent to', heard, { pushed: true }, true],
    ['one in segments', segmented, {}, true],
    ['one in segments while a worker is sent to', segmented, { pushed: true }, false],
    ['speech while a worker is sent to', synthesize('').task, { pushed: true }, true],
    ['text generation', generation, {}, false],
    ['a transcription, where the queue is embedded', heard, { enabled: false }, false],
  ])('takes %s: %s', (_, payload, fields, expected) => {
    const { pushed, enabled } = { pushed: false, enabled: true, ...fields };
    [workers.pushed, link.enabled] = [pushed, enabled];
    expect(queue.accepts(request(payload))).toBe(expected);
    expect(queue.enabled).toBe(enabled);
  });

  it('is another one than that of this process', () => expect(queue.isEmbedded).toBe(false));

  it('has nothing to do for a model of which nothing is placed', () => {
    all = [own(BATCH, { placed: undefined })];
    expect(queue.isIdle('m')).toBe(true);
    all = [own()];
    expect([queue.isIdle('m'), queue.isIdle('n')]).toEqual([false, true]);
  });

  it.each([
    ['nothing is known', [], 0, 0],
    ['nothing runs', [own()], 0, 0],
    ['what goes before it', [own(), own(REALTIME), own(REALTIME)], 150, 100],
  ])('tells when a request starts by %s', (_, waiting, batchMs, realtimeMs) => {
    const runs = () => own(BATCH, { isWaiting: false });
    all = batchMs > 0 ? [...waiting, runs(), runs()] : waiting;
    expect([aRequest, aRealtimeRequest].map(make => queue.startMs(make('s'), 100))).toEqual([
      batchMs,
      realtimeMs,
    ]);
  });

  it('takes requests at its intake, and says what they join', () => {
    const taken = request(heard);
    expect(queue.enqueue(taken, REPORTS)).toBeUndefined();
    expect(intake.enter).toHaveBeenCalledWith(taken, REPORTS);
    workers.pulling = true;
    expect(queue.backlog(aRequest('r'))).toEqual({ hasReady: true, waiting: 4 });
    expect(queue.backlog(aRequest('r', { model: 'n' })).waiting).toBe(0);
  });

  it('cancels a request where it is: at the intake, in the queue, or nowhere', async () => {
    await queue.cancel(aRequest('r'), 'client');
    expect(requests.get).toHaveBeenCalledWith('r');
    const [entering, placed] = [{ placed: undefined }, { placed: {} }];
    requests.get.mockReturnValueOnce(entering).mockReturnValueOnce(placed);
    await queue.cancel(aRequest('r'), 'client');
    await queue.cancel(aRequest('r'), 'client');
    expect([intake.stop.mock.calls, requests.cancel.mock.calls]).toEqual([
      [[entering, 'client']],
      [[placed, 'client']],
    ]);
  });

  it('gives a waiting request another priority, if it is there', async () => {
    expect(await queue.reprioritize(aRef('r'), REALTIME)).toBe(false);
    listing.find.mockImplementation(() => Promise.resolve(row('r')));
    queues.reprioritize.mockImplementation(() => Promise.resolve(true));
    expect(await queue.reprioritize(aRef('r'), REALTIME)).toBe(true);
    expect(queues.reprioritize).toHaveBeenCalledWith(row('r').ref, 'realtime');
    link.usable = false;
    await expect(queue.reprioritize(aRef('r'), REALTIME)).rejects.toBe(UNAVAILABLE);
    link.enabled = false;
    expect(await queue.reprioritize(aRef('r'), REALTIME)).toBe(false);
  });

  it('keeps suspects apart while Redis is there', async () => {
    await queue.suspect('m', 't', 5);
    link.usable = false;
    await queue.suspect('m', 't', 5);
    expect(queues.suspect.mock.calls).toEqual([['m', 't', 5]]);
  });

  it('shows what waits and runs; without Redis that is nothing, or an error', async () => {
    listing.find.mockImplementation(() => Promise.resolve(row('r')));
    const views = ['a', 'b'].map(id => row(id).view);
    expect([await queue.list(), await queue.listed(), await queue.find(aRef('r'))]).toEqual([
      views,
      views,
      row('r').view,
    ]);
    link.usable = false;
    expect([await queue.list(), await queue.find(aRef('r'))]).toEqual([[], undefined]);
    await expect(queue.listed()).rejects.toBe(UNAVAILABLE);
    link.enabled = false;
    expect(await queue.listed()).toEqual([]);
  });

  it('counts what this gateway has while Redis is away', async () => {
    const there = [{ model: 'm' }];
    listing.depths.mockImplementation(() => Promise.resolve(there));
    expect(await queue.depths()).toBe(there);
    link.usable = false;
    const runs = own(BATCH, { isWaiting: false }, 100);
    all = [runs, own(BATCH, { placed: undefined }, 200), own(REALTIME, {}, 300), own(), own()];
    expect(await queue.depths()).toEqual([
      { model: 'm', realtime: 1, batch: 2, running: 1, oldestWaitMs: 700 },
    ]);
    all = [runs];
    expect(await queue.depths()).toMatchObject([{ running: 1, oldestWaitMs: undefined }]);
  });

  it('stops a request of another gateway by its name, or as others named it', async () => {
    listing.otherwiseNamed.mockImplementation(() => Promise.resolve([row('x')]));
    jobs.stopEach.mockImplementation(() => Promise.resolve(true));
    jobs.stopKnown.mockImplementationOnce(() => Promise.resolve(true));
    expect(await queue.cancelElsewhere(aRef('r'), 'client')).toBe(true);
    expect(jobs.stopEach).not.toHaveBeenCalled();
    jobs.stopKnown.mockImplementationOnce(() => Promise.resolve(false));
    expect(await queue.cancelElsewhere(aRef('r'), 'client')).toBe(true);
    expect(jobs.stopEach.mock.calls).toEqual([[[row('x').ref], 'client']]);
    link.usable = false;
    expect(await queue.cancelElsewhere(aRef('r'), 'client')).toBe(false);
    expect(jobs.stopKnown).toHaveBeenCalledTimes(2);
  });

  it('stops all that match, and says which had not ended', async () => {
    listing.live.mockImplementation(() => Promise.resolve(['a', 'b', 'c'].map(row)));
    jobs.stopped.mockImplementation((ref: unknown) =>
      Promise.resolve((ref as { jobId: string }).jobId === 'c'),
    );
    const stopped = await queue.cancelMatching(({ id }) => id !== 'a', 'operator');
    expect([stopped, jobs.stopped.mock.calls]).toEqual([
      [aKey('c')],
      ['b', 'c'].map(id => [row(id).ref, 'operator']),
    ]);
  });
});
