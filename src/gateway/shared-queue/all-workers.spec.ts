import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ANNOUNCEMENT_TTL_MS, HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import { type Redis } from 'ioredis';
import { Subject } from 'rxjs';
import { redisClient } from '../../../test/support/redis-client.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { until } from '../../../test/support/waiting.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type PoolActivity } from '../worker-pool/pool-activity.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AllWorkers } from './all-workers.js';
import { type SharedQueueLink } from './shared-queue-link.js';

const [MODEL, LOCK_MS] = ['ears', 30_000];

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
    const id = `${MODEL}-${pid}.${hostname()}.${pid}`;
    const worker = {
      ...{ v: 1, id, model: MODEL, pid, host: hostname(), lockOwner: `owner-${pid}` },
      ...{ slots: { total: 1, inUse: 1 }, health: HEALTH },
    };
    await redis.zadd(keys.workers, Date.now(), id);
    await redis.set(keys.worker(id), JSON.stringify(worker));
    await redis.rpush(`${base}active`, `job-${pid}`);
    await redis.set(`${base}job-${pid}:lock`, `owner-${pid}:token`, 'PX', LOCK_MS);
  }

  const locked = async (): Promise<number[]> =>
    Promise.all([1, 2].map(pid => redis.exists(`${base}job-${pid}:lock`)));

  it('lose their jobs as soon as their process has ended, and nobody else loses any', async () => {
    activity.next({ type: 'exited', worker: `${MODEL}-1`, pid: 1 });
    await until(async () => (await locked()).includes(0), { limitMs: 10_000 });
    expect(await locked()).toEqual([0, 1]);
    expect(await redis.smembers(`${base}stalled`)).toEqual(['job-1']);
  });

  it('stay known after Redis was away until they could be heard again', async () => {
    for (const pid of [1, 2]) await redis.del(keys.worker(`${MODEL}-${pid}.${hostname()}.${pid}`));
    await announced(3);
    back.next();
    const known = () => workers.workers().map(({ pid }) => pid);
    await until(() => known().includes(3));
    expect(known().sort()).toEqual([1, 2, 3]);
    await until(() => known().length === 1, { limitMs: 10 * HEARTBEAT_MS });
  });

  it('that are no longer heard lose what they did not renew', async () => {
    const lock = `${base}job-2:lock`;
    for (const pid of [1, 2]) await redis.del(keys.worker(`${MODEL}-${pid}.${hostname()}.${pid}`));
    await redis.pexpire(`${base}job-1:lock`, LOCK_MS - ANNOUNCEMENT_TTL_MS - 1000);
    const isFreed = async (): Promise<boolean> => {
      await redis.pexpire(lock, LOCK_MS);
      return (await locked()).includes(0);
    };
    await until(isFreed, { limitMs: 10 * HEARTBEAT_MS });
    expect(await locked()).toEqual([0, 1]);
  });
});

const HEALTH = { state: 'ready', device: '', reason: '' };
