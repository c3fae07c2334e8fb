import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { type QueueAccounts } from '@switchyard/shared-queue/order/redis-order.js';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { pause, until } from '../../../test/support/waiting.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { RedisLink } from '../../platform/redis/redis.module.js';
import { type DeviceSwaps } from '../devices/device-swaps.js';
import { type AllWorkers } from './all-workers.js';
import { QueueListing } from './queue-listing.js';
import { SharedQueueLink } from './shared-queue-link.js';

const MODEL = syntheticModel({}, { id: 'ears' });

describeWith(REDIS)('the list of the shared queue', () => {
  let server: RedisServer;
  let redis: RedisLink;
  let link: SharedQueueLink;
  let listing: QueueListing;
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeEach(async () => {
    server = await RedisServer.start();
    const settings = settingsFrom({ 'queue.driver': 'redis', 'redis.url': server.url });
    redis = new RedisLink(settings, Redis);
    link = new SharedQueueLink(redis, new DependencyMonitor(), settings);
    const models = () => [MODEL.id];
    const log = { debug: () => undefined };
    const queues = await ModelQueues.open(link, { models, weightOf: () => 1, log });
    const workers = { hasPulling: () => false, hasPushed: () => false };
    const swaps = { isAway: () => false } as unknown as DeviceSwaps;
    listing = new QueueListing(link, queues, workers as unknown as AllWorkers, [MODEL], swaps);
    await until(() => link.usable);
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    process.off('unhandledRejection', note);
    redis.onApplicationShutdown();
    await server[Symbol.asyncDispose]();
  });

  it('is refused as a whole when Redis goes away while it is read', async () => {
    expect(await listing.live()).toEqual([]);
    link.redis.stream.destroy();
    await expect(listing.live()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await pause(20);
    expect(unhandled).toEqual([]);
  });
});

describe('the depth of a shared queue', () => {
  it.each([
    [900, Infinity, 100],
    [900, 400, 600],
    [Infinity, Infinity, undefined],
  ])('with requests since %d and %d has waited %d ms at 1000', async (realtime, batch, waitMs) => {
    const counts = { realtime: 1, batch: 2, oldestRealtimeMs: realtime, oldestBatchMs: batch };
    const listing = new QueueListing(
      ...([
        { clock: { nowMs: () => 1000 } },
        { counts: () => Promise.resolve(counts) },
        {},
        [MODEL],
      ] as unknown as ConstructorParameters<typeof QueueListing>),
    );
    expect(await listing.depths()).toEqual([
      { model: MODEL.id, realtime: 1, batch: 2, oldestWaitMs: waitMs },
    ]);
  });
});

const FACTS = { priority: 3, timestamp: 9000, taken: false, attempts: 0, finished: false };
const phases = { workerId: 'w', takenMs: 1, batchWaitMs: 0, totalMs: 7, attempts: 1 };
const tenant = (owner: string, jobs: [string, number][], fields: object = {}) => ({
  owner,
  isRealtime: false,
  startTag: 0,
  weight: 1,
  isSuspect: false,
  ...fields,
  jobs: jobs.map(([id, sinceMs]) => ({ id, sinceMs, costMs: 10 })),
});

/** The list of what a fake queue has; waiting jobs are `accounts` and `returned`. */
function listed(
  jobs: Readonly<Record<string, { readonly facts?: object; readonly data?: object }>>,
  known: {
    readonly accounts?: Partial<QueueAccounts>;
    readonly returned?: string[];
    readonly running?: string[];
    readonly workers?: { readonly hasPulling?: boolean; readonly hasPushed?: boolean };
    readonly isAway?: boolean;
  } = {},
): QueueListing {
  const factsOf = (jobId: string) => {
    const job = jobs[jobId];
    return job && { ...FACTS, ...job.facts };
  };
  const { hasPulling = true, hasPushed = false } = known.workers ?? {};
  const ids = ({ jobId }: { jobId: string }): string => jobId;
  const parts = [
    {
      access: { agingMs: 1000, agingShare: 0.25 },
      clock: { nowMs: () => 10_000 },
    },
    {
      facts: (refs: { jobId: string }[]) => Promise.resolve(refs.map(ids).map(factsOf)),
      data: (ref: { jobId: string }) => Promise.resolve(jobs[ref.jobId]?.data ?? {}),
      refs: ({ id }: { id: string }) =>
        ['other', MODEL.id].map(model => ({ model, jobId: model === MODEL.id ? id : '' })),
      returned: () => Promise.resolve(known.returned ?? []),
      running: () => Promise.resolve(known.running ?? []),
      accounts: () =>
        Promise.resolve({ agingCredit: 0, others: [], parked: [], tenants: [], ...known.accounts }),
    },
    { hasPulling: () => hasPulling, hasPushed: () => hasPushed },
    [MODEL],
    {
      isAway: () => known.isAway ?? false,
      expected: (_: string, priority: number) => ({ inMs: priority }),
    },
  ];
  return new QueueListing(...(parts as unknown as ConstructorParameters<typeof QueueListing>));
}

const orderOf = async (accounts: Partial<QueueAccounts>): Promise<string[]> => {
  const waiting = [...(accounts.tenants ?? []).flatMap(({ jobs }) => jobs.map(({ id }) => id))];
  const known = Object.fromEntries([...waiting, 'x', 'y', 'z'].map(id => [id, {}]));
  const listing = listed(known, { accounts, returned: ['z'] });
  return (await listing.live()).map(({ ref }) => ref.jobId);
};

describe('the order in which the shared queue is listed', () => {
  it('begins with what came back, then what has no account, and ends with what is parked', async () => {
    const tenants = [tenant('a', [['a1', 9900]])];
    expect(await orderOf({ others: ['x'], parked: ['y'], tenants })).toEqual(['z', 'x', 'a1', 'y']);
  });

  it.each([
    [
      'REALTIME goes first',
      [tenant('a', [['a1', 9900]]), tenant('b', [['b1', 9950]], { isRealtime: true })],
      ['b1', 'a1'],
    ],
    [
      'aged requests have their share beside it',
      [
        tenant('a', [['a1', 9000]]),
        tenant(
          'b',
          [
            ['b1', 9950],
            ['b2', 9960],
            ['b3', 9970],
            ['b4', 9980],
          ],
          { isRealtime: true },
        ),
      ],
      ['b1', 'b2', 'b3', 'a1', 'b4'],
    ],
    [
      'tenants take turns by work, the one with the smallest tag first',
      [
        tenant(
          'a',
          [
            ['a1', 9900],
            ['a2', 9910],
          ],
          { startTag: 105 },
        ),
        tenant(
          'b',
          [
            ['b1', 9920],
            ['b2', 9930],
          ],
          { startTag: 100 },
        ),
      ],
      ['b1', 'a1', 'b2', 'a2'],
    ],
    [
      'a tenant of more weight has more turns',
      [
        tenant(
          'a',
          [
            ['a1', 9900],
            ['a2', 9910],
          ],
          { startTag: 4 },
        ),
        tenant(
          'b',
          [
            ['b1', 9920],
            ['b2', 9930],
            ['b3', 9940],
          ],
          { weight: 4, startTag: 1 },
        ),
      ],
      ['b1', 'b2', 'a1', 'b3', 'a2'],
    ],
    [
      'what is owed counts by weight',
      [
        tenant('a', [['a1', 9900]], { startTag: 5 }),
        tenant('b', [['b1', 9920]], { startTag: 3 }),
        tenant('c', [['c1', 9890]], { weight: 9, startTag: 4 }),
      ],
      ['b1', 'c1', 'a1'],
    ],
    [
      'of equal tenants the oldest request goes first',
      [tenant('a', [['a1', 9910]]), tenant('b', [['b1', 9900]])],
      ['b1', 'a1'],
    ],
    [
      'suspects let others go first',
      [tenant('a', [['a1', 9900]], { isSuspect: true }), tenant('b', [['b1', 9910]])],
      ['b1', 'a1'],
    ],
    [
      'suspects that are aged do not',
      [tenant('a', [['a1', 9000]], { isSuspect: true }), tenant('b', [['b1', 9010]])],
      ['a1', 'b1'],
    ],
  ] as const)('is that of its workers: %s', async (_, tenants, expected) => {
    expect(await orderOf({ tenants })).toEqual(['z', ...expected]);
  });

  it('numbers what waits, lists a thousand of it, and then what runs', async () => {
    const waiting = Array.from({ length: 1001 }, (_, nth) => `w${nth}`);
    const jobs = Object.fromEntries([...waiting, 'r'].map(id => [id, {}]));
    jobs.r = { facts: { taken: true, takenMs: 9500 } };
    const views = await listed(jobs, { accounts: { others: waiting }, running: ['r'] }).live();
    expect(views.map(({ ref }) => ref.jobId)).toEqual([...waiting.slice(0, 1000), 'r']);
    expect([0, 999, 1000].map(at => views[at]?.view.position)).toEqual([1, 1000, undefined]);
  });

  it('leaves out what was removed meanwhile', async () => {
    expect(await listed({}, { accounts: { others: ['x'] } }).live()).toEqual([]);
  });
});

describe('a request in the list of the shared queue', () => {
  const view = async (job: Parameters<typeof listed>[0][string], known = {}) =>
    (await listed({ j: job }, { running: ['j'], ...known }).live())[0]?.view;

  it('is shown as its gateway wrote it, or as its job is', async () => {
    const data = { id: 'r', tenant: 't', priority: 'realtime', acceptedMs: 9400 };
    expect(await view({ data, facts: { workerId: 'w', attempts: 2 } })).toMatchObject({
      id: 'r',
      model: MODEL.id,
      tenant: 't',
      priority: 'realtime',
      state: 'queued',
      createdAtMs: 9400,
      waitedMs: 600,
      aged: false,
      workerId: 'w',
      attempts: 2,
    });
    expect(await view({})).toMatchObject({
      id: 'j',
      priority: 'batch',
      createdAtMs: 9000,
      waitedMs: 1000,
      aged: true,
    });
    expect(await view({ facts: { priority: 2 } })).toMatchObject({ priority: 'realtime' });
  });

  it.each([
    ['waits for less than it ages', { facts: { timestamp: 9001 } }, false],
    ['is REALTIME', { data: { priority: 'realtime' } }, false],
    ['runs, and was not aged by then', { facts: { taken: true } }, false],
    ['was aged when a worker took it', { facts: { taken: true, priority: 1 } }, true],
  ])('that %s is aged: %s', async (_, job, aged) => {
    expect((await view(job))?.aged).toBe(aged);
  });

  it('waited until it was taken, and never less than no time', async () => {
    const taken = { taken: true, takenMs: 9300 };
    expect(await view({ facts: taken })).toMatchObject({ state: 'running', waitedMs: 300 });
    expect(await view({ facts: { ...taken, takenMs: 8999 } })).toMatchObject({ waitedMs: 0 });
    expect(await view({ facts: taken })).not.toHaveProperty('waitsFor');
  });

  it.each([
    [{ workers: { hasPulling: true } }, { waitsFor: 'slot' }],
    [{ workers: { hasPulling: false, hasPushed: true } }, { waitsFor: 'slot' }],
    [{ workers: { hasPulling: false } }, { waitsFor: 'worker' }],
    [
      { workers: { hasPulling: false }, isAway: true },
      { waitsFor: 'device', load: { inMs: 1 } },
    ],
  ])('with %j %j', async (known, expected) => {
    const shown = await view({}, known);
    expect({ ...shown, load: shown?.load && { inMs: 1 } }).toMatchObject(expected);
  });

  const returned = (fields: object) => ({
    facts: { finished: true, returnValue: JSON.stringify({ v: 1, phases, ...fields }) },
  });
  it.each([
    [
      { outcome: 'completed', value: { kind: 'x' }, execution: { readyWaitMs: 5 } },
      { state: 'completed', phases: { queueWaitMs: 1000, grpcMs: 7, readyMs: 5 }, code: undefined },
    ],
    [
      { outcome: 'failed', error: { code: 'invalid_audio', message: '' } },
      { state: 'failed', code: 'invalid_audio', phases: { readyMs: undefined } },
    ],
    [{ outcome: 'failed', error: { code: 'new', message: '' } }, { code: 'engine_failed' }],
    [{ outcome: 'cancelled' }, { state: 'cancelled', code: 'request_cancelled' }],
  ])('that ended with %j is %j', async (result, expected) => {
    expect(await view(returned(result))).toMatchObject(expected);
  });

  it('is found by its name, with its position while it waits', async () => {
    const jobs = { a: {}, b: { data: { id: 'b' } }, done: { facts: { finished: true } } };
    const listing = listed(jobs, { accounts: { others: ['a', 'b'] }, returned: ['z'] });
    const position = async (id: string) =>
      (await listing.find({ tenant: undefined, id }))?.view.position;
    expect([await position('a'), await position('b'), await position('done')]).toEqual([
      2,
      3,
      undefined,
    ]);
    expect((await listing.find({ tenant: undefined, id: 'b' }))?.ref.model).toBe(MODEL.id);
  });

  it('is found under the name that another client gave its job', async () => {
    const listing = listed({ x: { data: { id: 'r', tenant: 't' } } }, { running: ['x'] });
    const found = async (named?: string) =>
      (await listing.find({ tenant: named, id: 'r' }))?.ref.jobId;
    expect([await found('t'), await found('u')]).toEqual(['x', undefined]);
  });
});
