import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { QueueJobClass, QueueKeys } from '../keys.js';
import { RedisOrder } from './redis-order.js';

const MODEL = 'alpha';
const AGING_MS = 30_000;

describeWith(REDIS)('RedisOrder', () => {
  let server: RedisServer;
  let redis: Redis;
  let keys: QueueKeys;
  let queue: Queue;
  let worker: Worker;
  let order: RedisOrder;
  let runs = 0;
  let added = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
  });
  beforeEach(() => {
    keys = new QueueKeys(`spec${(runs += 1)}`);
    const options = { connection: redis, prefix: keys.prefix };
    queue = new Queue(keys.queue(MODEL), options);
    worker = new Worker(keys.queue(MODEL), null, { ...options, autorun: false });
    worker.on('error', () => undefined);
    order = new RedisOrder({ redis, keys, agingMs: AGING_MS, agingShare: 0.25 });
  });
  afterEach(async () => {
    await worker.close();
    await queue.close();
  });
  afterAll(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** Of what BullMQ keeps for the model. */
  const key = (name: string) => `${keys.prefix}:${keys.queue(MODEL)}:${name}`;
  const { REALTIME, BATCH } = QueueJobClass;
  interface Change {
    tenant?: string;
    priority?: number;
    ageMs?: number;
    cost?: number;
  }
  const add = (id: string, change: Change = {}) => {
    const { tenant, priority = BATCH, ageMs = 0, cost = 10 } = change;
    // Each a millisecond younger than the one before.
    const timestamp = Date.now() - 10_000 + (added += 1) - ageMs;
    return queue.add('spec', {}, {
      jobId: keys.job(id, tenant),
      priority,
      timestamp,
      cost,
    } as object);
  };
  const addAll = async (ids: readonly string[], change?: Change) => {
    for (const id of ids) await add(id, change);
  };
  const idOf = (job: Job | undefined) => job?.id?.split('.').slice(1).join('.');
  /** As BullMQ's own worker does, which knows nothing of the order. */
  const grab = async (): Promise<Job | undefined> => worker.getNextJob('t', { block: false });
  const take = async () => {
    await order.release(MODEL);
    return grab();
  };
  const drain = async (next = take) => {
    const ids: (string | undefined)[] = [];
    for (let job = await next(); job; job = await next()) ids.push(idOf(job));
    return ids.join(' ');
  };

  it('gives aged jobs one turn in four beside REALTIME', async () => {
    await addAll(['b1', 'b2', 'b3'], { ageMs: AGING_MS });
    for (let n = 1; n <= 8; n += 1) await add(`r${n}`, { priority: REALTIME });
    expect(await drain()).toBe('r1 r2 r3 b1 r4 r5 r6 b2 r7 r8 b3');
  });

  it('neither loses nor doubles a job whose worker died before it took it', async () => {
    for (let n = 1; n <= 6; n += 1) await add(`r${n}`);
    await order.release(MODEL);
    await order.release(MODEL);
    // What was released long ago goes to the next who asks: nothing else is released.
    const front = await redis.zrange(key('prioritized'), 0, '1');
    for (const id of front) await redis.zadd(key('prioritized'), 1, id);
    expect([await order.release(MODEL), await order.release(MODEL)].sort()).toEqual(front.sort());
    expect((await drain()).split(' ').sort().join(' ')).toBe('r1 r2 r3 r4 r5 r6');
  });

  it('returns the charge of a job that comes back, which keeps its place', async () => {
    await addAll(['a1', 'a2'], { tenant: 'a' });
    await addAll(['b1', 'b2'], { tenant: 'b' });
    const [taken] = [await take()];
    await taken!.moveToWait('t');
    expect(await drain()).toBe('a1 b1 a2 b2');
  });

  it('lets suspects go after others at every worker, lists them so, and forgets them in time', async () => {
    await addAll(['a1', 'a2'], { tenant: 'a' });
    await addAll(['b1', 'b2'], { tenant: 'b' });
    await redis.set(keys.suspect(MODEL, 'a'), 1);
    await order.sort(MODEL);
    const { tenants } = await order.accounts(MODEL);
    const suspects = tenants.filter(({ isSuspect }) => isSuspect);
    expect(suspects.map(({ owner }) => owner)).toEqual([keys.owner('a')]);
    expect(tenants).toHaveLength(2);
    expect(idOf(await take())).toBe('b1');
    await redis.del(keys.suspect(MODEL, 'a'));
    expect(await drain()).toBe('a1 a2 b2');
  });

  it('charges a load to the tenants whose jobs wait or run, by their number', async () => {
    await addAll(['a1', 'a2', 'a3'], { tenant: 'a' });
    await add('b1', { tenant: 'b' });
    const tags = async (): Promise<Record<string, number>> => {
      const { tenants } = await order.accounts(MODEL);
      return Object.fromEntries(tenants.map(({ owner, startTag }) => [owner, startTag]));
    };
    const [a, b] = [keys.owner('a'), keys.owner('b')];
    await order.charge(MODEL, 40);
    expect(await tags()).toEqual({ [a]: 30, [b]: 10 });
    expect(idOf(await take())).toBe('b1');
    await order.charge(MODEL, 40);
    // It was charged 10 for its job that runs.
    await add('b2', { tenant: 'b' });
    await order.sort(MODEL);
    expect(await tags()).toEqual({ [a]: 60, [b]: 30 });
    await expect(order.charge('missing', 40)).resolves.toBeUndefined();
  });

  it('serves workers that do not ask for the order by class and time', async () => {
    await add('b1', { tenant: 'b' });
    await add('a1', { tenant: 'a' });
    await order.sort(MODEL);
    await add('a2', { tenant: 'a', priority: REALTIME });
    await add('b2', { tenant: 'b', priority: REALTIME });
    await order.sort(MODEL);
    await add('c1', { tenant: 'c' });
    expect(await drain(grab)).toBe('a2 b2 c1 b1 a1');
    expect((await order.accounts(MODEL)).tenants.flatMap(({ jobs }) => jobs)).toEqual([]);
    await addAll(['d1', 'd2']);
    expect(await drain()).toBe('d1 d2');
  });

  it('forgets what left: removed jobs have no place, tenants without jobs no turn', async () => {
    await addAll(['a1', 'a2', 'a3'], { tenant: 'a' });
    await add('b1', { tenant: 'b' });
    await order.sort(MODEL);
    await queue.remove(keys.job('a1', 'a'));
    await order.leave(MODEL, keys.job('a1', 'a'));
    const { tenants, others } = await order.accounts(MODEL);
    expect([others, tenants.map(({ jobs }) => jobs.length).sort()]).toEqual([[], [1, 2]]);
    // Not by a gateway of this version: it is noticed when its turn would be.
    await queue.remove(keys.job('b1', 'b'));
    expect(await drain()).toBe('a2 a3');
    expect((await order.accounts(MODEL)).tenants).toEqual([]);
    expect(await redis.exists(`${keys.shares(keys.queue(MODEL))}costs`)).toBe(0);
  });

  it('takes back what an earlier version moved up for its age', async () => {
    await addAll(['b1', 'b2'], { ageMs: AGING_MS });
    await addAll(['r1', 'r2', 'r3'], { priority: REALTIME });
    await order.sort(MODEL);
    for (const id of ['b1', 'b2']) {
      await redis.zadd(key('prioritized'), 2 ** 32 + 1, keys.job(id, undefined));
      await redis.hset(key(keys.job(id, undefined)), 'priority', 1);
    }
    expect(await drain()).toBe('r1 r2 r3 b1 b2');
  });

  it('survives a Redis that has forgotten its scripts, and a queue that is not there', async () => {
    await add('r1');
    await redis.script('FLUSH');
    expect(await drain()).toBe('r1');
    expect(await order.release('missing')).toBeUndefined();
  });
});
