import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  ANNOUNCEMENT_TTL_MS,
  DRAINED_TTL_MS,
  HEARTBEAT_MS,
} from '@switchyard/shared-queue/heartbeat.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import { type Redis } from 'ioredis';
import { Subject } from 'rxjs';
import { redisClient } from '../../../test/support/redis-client.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { until } from '../../../test/support/waiting.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type PoolActivity } from '../worker-pool/pool-activity.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type ModelView, type WorkerView } from '../worker-pool/worker-view.js';
import { AllWorkers } from './all-workers.js';
import { type SharedQueueLink } from './shared-queue-link.js';

Logger.overrideLogger(false);

const [MODEL, LOCK_MS] = ['ears', 30_000];
const HEALTH = { state: 'ready', device: '', reason: '' };
/** The id of a worker of this machine. */
const idOf = (name: string, pid: number): string => `${name}-${pid}.${hostname()}.${pid}`;

describeWith(REDIS)('workers that pull', () => {
  const keys = new QueueKeys('test');
  const base = keys.base(MODEL);
  const activity = new Subject<Partial<PoolActivity>>();
  const back = new Subject<void>();
  let server: RedisServer;
  let redis: Redis;
  let listener: Redis;
  let workers: AllWorkers;

  beforeEach(async () => {
    server = await RedisServer.start();
    redis = redisClient(`redis://127.0.0.1:${server.port}`);
    listener = redisClient(`redis://127.0.0.1:${server.port}`);
    for (const pid of [1, 2]) await announced(pid);
    const pool = { activity$: activity, workers: () => [], models: () => [], of: () => undefined };
    const link = {
      ...{ enabled: true, usable: true, keys, redis, back$: back, access: { lockMs: LOCK_MS } },
      clock: new RedisClock(),
      listener: () => listener,
    };
    workers = new AllWorkers(
      pool as unknown as WorkerPoolService,
      link as unknown as SharedQueueLink,
      new ModelList([]),
    );
    workers.onApplicationBootstrap();
    await until(() => workers.workers().length === 2);
  });
  afterEach(async () => {
    workers.onApplicationShutdown();
    redis.disconnect();
    listener.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** A worker of this machine with one job, whose lock it holds. */
  async function announced(pid: number): Promise<void> {
    const id = idOf(MODEL, pid);
    const worker = {
      ...{ v: 1, id, model: MODEL, pid, host: hostname(), lockOwner: `owner-${pid}` },
      ...{ slots: { total: 1, inUse: 1 }, health: HEALTH },
    };
    await redis.zadd(keys.workers, Date.now(), id);
    await redis.set(keys.worker(id), JSON.stringify(worker));
    await redis.rpush(`${base}active`, `job-${pid}`);
    await redis.set(`${base}job-${pid}:lock`, `owner-${pid}:token`, 'PX', LOCK_MS);
  }

  const unannounced = () => redis.del([1, 2].map(pid => keys.worker(idOf(MODEL, pid))));
  const locked = async (): Promise<number[]> =>
    Promise.all([1, 2].map(pid => redis.exists(`${base}job-${pid}:lock`)));

  it('lose their jobs as soon as their process has ended, and nobody else loses any', async () => {
    activity.next({ type: 'exited', worker: `${MODEL}-1`, pid: 1 });
    await until(async () => (await locked()).includes(0), { limitMs: 10_000 });
    expect(await locked()).toEqual([0, 1]);
    expect(await redis.smembers(`${base}stalled`)).toEqual(['job-1']);
  });

  it('stay known after Redis was away until they could be heard again', async () => {
    await unannounced();
    await announced(3);
    back.next();
    const known = () => workers.workers().map(({ pid }) => pid);
    await until(() => known().includes(3));
    expect(known().sort()).toEqual([1, 2, 3]);
    await until(() => known().length === 1, { limitMs: 10 * HEARTBEAT_MS });
  });

  it('that are no longer heard lose what they did not renew', async () => {
    const lock = `${base}job-2:lock`;
    await unannounced();
    await redis.pexpire(`${base}job-1:lock`, LOCK_MS - ANNOUNCEMENT_TTL_MS - 1000);
    const isFreed = async (): Promise<boolean> => {
      await redis.pexpire(lock, LOCK_MS);
      return (await locked()).includes(0);
    };
    await until(isFreed, { limitMs: 10 * HEARTBEAT_MS });
    expect(await locked()).toEqual([0, 1]);
  });
});

describe('all workers', () => {
  const keys = new QueueKeys('test');
  let pooled: Partial<WorkerView>[];
  let model: Partial<ModelView> | undefined;
  let hasReady: boolean;
  let announcements: object[];
  let link: { enabled: boolean; usable: boolean };
  let listener: EventEmitter & { subscribe: unknown };
  let workers: AllWorkers;
  const order = jest.fn();
  const elsewhere = jest.fn();
  const evaluated = jest.fn();
  const published = jest.fn();
  const sent = jest.fn();
  let activity: Subject<Partial<PoolActivity>>;

  /** One of this machine that pulls; `health` and `slots` are added to. */
  const pulls = (pid: number, fields: Record<string, unknown> = {}) => ({
    ...{ v: 1, id: idOf('w', pid), model: MODEL, pid, host: hostname() },
    ...{ lockOwner: `o-${pid}`, ...fields },
    slots: { total: 2, inUse: 0, ...(fields.slots as object) },
    health: { ...HEALTH, inFlight: 3, ...(fields.health as object) },
  });
  const placed = { by: process.pid + 1, devices: ['gpu0'] };

  beforeEach(() => {
    for (const mock of [order, elsewhere, evaluated, published, sent]) mock.mockReset();
    for (const mock of [evaluated, published, sent])
      mock.mockImplementation(() => Promise.resolve(0));
    activity = new Subject();
    [pooled, hasReady, announcements] = [[], false, [pulls(1)]];
    model = { id: MODEL, state: 'loaded', workers: [] };
    link = { enabled: true, usable: true };
    listener = Object.assign(new EventEmitter(), {
      subscribe: jest.fn(() => Promise.reject(new Error('away'))),
    });
    const redis = {
      zremrangebyscore: () => Promise.resolve(),
      zrange: () => Promise.resolve(announcements.map(one => (one as { id: string }).id)),
      mget: () => Promise.resolve(announcements.map(one => JSON.stringify(one))),
      ...{ eval: evaluated, publish: published },
      set: (...args: unknown[]) => sent('set', ...args),
      del: (...args: unknown[]) => sent('del', ...args),
    };
    const pool = {
      ...{ activity$: activity, workers: () => pooled, models: () => [model], order },
      of: (id: string) => (id === MODEL ? { hasReady, view: () => model, elsewhere } : undefined),
    };
    Object.assign(link, {
      ...{ keys, redis, back$: new Subject(), access: { lockMs: LOCK_MS } },
      clock: { nowMs: () => 0, read: () => Promise.resolve() },
      listener: () => listener,
      demand: () => {
        if (!link.usable) throw new Error('queue_unavailable');
      },
      answered: (reply: unknown) => reply,
    });
    const models = [syntheticModel({}, { id: MODEL, device: [] })];
    workers = new AllWorkers(
      pool as unknown as WorkerPoolService,
      link as unknown as SharedQueueLink,
      new ModelList(models),
    );
    workers.onApplicationBootstrap();
  });
  afterEach(() => workers.onApplicationShutdown());

  async function heard(...found: object[]): Promise<void> {
    announcements = found;
    listener.emit('message');
    await new Promise(setImmediate);
  }

  it('are read when one changed, and told to who asks', async () => {
    const read = jest.fn();
    workers.heard$.subscribe(read);
    const busy = pulls(2, { model: 'other', slots: { inUse: 5 }, health: { device: 'cuda:1' } });
    await heard(pulls(1), busy, pulls(3, { model: 'other', slots: { inUse: 1 } }));
    expect(read).toHaveBeenCalledTimes(1);
    expect(listener.subscribe).toHaveBeenCalledWith(keys.announced);
    expect(workers.workers()).toMatchObject([
      {
        id: idOf('w', 1),
        state: 'ready',
        slots: { total: 2, inUse: 0, free: 2 },
        device: undefined,
      },
      {
        state: 'busy',
        slots: { free: 0 },
        restarts: 0,
        streams: 0,
        streamsInUse: 0,
        device: 'cuda:1',
      },
      { state: 'busy', slots: { free: 1 } },
    ]);
    expect(workers.model(MODEL)?.workers).toHaveLength(1);
  });

  it.each([
    [{}, true, 'loaded'],
    [{ drained: true }, false, 'loading'],
    [{ health: { state: 'loading' } }, false, 'loading'],
    [{ model: 'other' }, false, 'loading'],
  ])('serve a model that is pulled with %j: %s', async (fields, isServed, state) => {
    await heard(pulls(1, fields));
    expect([workers.hasPulling(MODEL), workers.models()]).toMatchObject([isServed, [{ state }]]);
    hasReady = true;
    expect([workers.hasPushed(MODEL), workers.hasPushed('unknown')]).toEqual([true, false]);
  });

  it('are none while Redis is away, and those of the pool where the queue is embedded', async () => {
    await heard(pulls(1));
    link.usable = false;
    expect(workers.workers()).toEqual([]);
    const reason: unknown = expect.stringContaining('Redis');
    expect(workers.model(MODEL)).toMatchObject({ state: 'failed', reason });
    [link.usable, link.enabled] = [true, false];
    expect([workers.workers(), workers.model(MODEL)]).toEqual([[], model]);
    expect(workers.model('unknown')).toBeUndefined();
  });

  it('are not read while Redis is away, and stay known when that fails', async () => {
    await heard(pulls(1));
    link.usable = false;
    await heard(pulls(1), pulls(2));
    link.usable = true;
    expect(workers.workers()).toHaveLength(1);
    await heard({ id: 'x', toJSON: () => [] }, pulls(1));
    expect(workers.workers()).toHaveLength(1);
  });

  it('of the pool that pull are shown once', async () => {
    pooled = [
      { id: 'w-1', pid: 1 },
      { id: 'w-2', pid: 9 },
      { id: idOf('w', 3), pid: 9 },
      { id: 'w', pid: 4 },
    ];
    await heard(pulls(1, { drained: true }), pulls(2), pulls(3), pulls(4));
    const shown = workers.workers();
    expect(shown.map(({ id, pid }) => [id, pid])).toEqual([
      ...pooled.map(({ id, pid }) => [id, pid]),
      [idOf('w', 2), 2],
      [idOf('w', 4), 4],
    ]);
    expect(shown[0]?.drained).toBe(true);
    model = { ...model, workers: pooled.slice(0, 1) as WorkerView[] };
    expect(workers.model(MODEL)?.workers).toHaveLength(4);
  });

  it.each([
    ['placed by another gateway of this machine', { placed }, true],
    ['placed by this one', { placed: { ...placed, by: process.pid } }, false],
    ['placed far away', { host: 'far', placed: { ...placed, by: process.pid } }, true],
    ['on another device', { placed: { ...placed, devices: ['gpu1'] } }, false],
    ['on no device', {}, false],
  ])('are elsewhere on a device: one %s', async (_, fields, isElsewhere) => {
    await heard(pulls(1, fields));
    expect(workers.areElsewhere(['gpu0'])).toBe(isElsewhere);
  });

  it('count the calls of those on devices', async () => {
    await heard(
      pulls(1, { placed }),
      pulls(2, { placed }),
      pulls(3),
      pulls(4, { placed, model: 'o' }),
    );
    expect(workers.placedCalls(MODEL)).toBe(6);
  });

  it('of other gateways of this machine are sent to', async () => {
    const at = { worker: 'w', address: '127.0.0.1:1', token: 't' };
    const one = pulls(1, { placed, at });
    await heard(one, pulls(2, { placed }), pulls(3, { placed, at, host: 'far' }), pulls(4, { at }));
    await heard(one, pulls(5, { placed, at, model: 'other' }));
    const { address, token } = at;
    expect(elsewhere.mock.calls).toEqual([
      [[{ workerId: 'w', address, token, pid: 1, state: 'ready' }]],
      [[{ workerId: 'w', address, token, pid: 1, state: 'ready' }]],
    ]);
  });

  it('that pull are drained and resumed in Redis, the others in the pool', async () => {
    const pulling = idOf('w', 1);
    const plain = 'w-9';
    pooled = [{ id: plain, pid: 9 }];
    await heard(pulls(1), pulls(2, { lockOwner: undefined }));
    expect((await workers.order(pulling, 'drain')).drained).toBe(true);
    expect((await workers.order(pulling, 'resume')).drained).toBe(false);
    expect(sent.mock.calls).toEqual([
      ['set', keys.drained(pulling), '1', 'PX', DRAINED_TTL_MS],
      ['del', keys.drained(pulling)],
    ]);
    await workers.order(pulling, 'restart');
    await workers.order(idOf('w', 2), 'drain');
    await workers.order(plain, 'drain');
    const ordered = order.mock.calls.map(([id]) => id as string);
    expect(ordered).toEqual([pulling, idOf('w', 2), plain]);
    await expect(workers.order('none', 'drain')).rejects.toMatchObject({
      code: 'worker_not_found',
    });
  });

  it('that ended free their jobs and are forgotten at once, and no others', async () => {
    await heard(pulls(1), pulls(2));
    activity.next({ type: 'restarted', worker: 'w-1', pid: 1 } as object);
    activity.next({ type: 'exited', worker: 'w-1', pid: 2 });
    activity.next({ type: 'exited', worker: 'w-1', pid: 1 });
    await new Promise(setImmediate);
    expect(evaluated).toHaveBeenCalledTimes(1);
    expect(evaluated.mock.lastCall?.slice(-2)).toEqual(['o-1:', LOCK_MS]);
    const id = idOf('w', 1);
    expect(sent.mock.calls).toEqual([['del', keys.worker(id)]]);
    expect(published.mock.calls).toEqual([[keys.announced, id]]);
  });

  it('are read with every heartbeat, until the gateway ends; none are of an embedded queue', () => {
    jest.useFakeTimers();
    const before = jest.getTimerCount();
    workers.onApplicationBootstrap();
    expect(jest.getTimerCount()).toBe(before + 1);
    workers.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(before);
    link.enabled = false;
    workers.onApplicationBootstrap();
    expect(jest.getTimerCount()).toBe(before);
    jest.useRealTimers();
  });
});
