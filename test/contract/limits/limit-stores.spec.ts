import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { failOpenLimitStore } from '../../../src/gateway/limits/fail-open-limit-store.js';
import { LocalLimitStore } from '../../../src/gateway/limits/local-limit-store.js';
import { RedisLimitStore } from '../../../src/gateway/limits/redis-limit-store.js';
import { NO_LIMITS } from '../../support/limits.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { limitStoreContract } from './limit-store.contract.js';

/** Noon of a day: what is counted by days does not change in the middle of a test. */
const NOON_MS = Date.UTC(2026, 5, 1, 12);

function clock() {
  let nowMs = NOON_MS;
  return { now: () => nowMs, move: (ms: number) => void (nowMs += ms) };
}

describe('limits in one process', () => {
  limitStoreContract(() => {
    const { now, move } = clock();
    return { store: new LocalLimitStore(now), move };
  });

  it('keep 100 accounts at most, whoever comes', async () => {
    const { now } = clock();
    const store = new LocalLimitStore(now, 100);
    const limits = { ...NO_LIMITS, requestsPerMinute: 5 };
    for (let count = 0; count < 500; count++)
      await store.admit({ subject: `s${count}`, ticket: 't', limits });
    expect(store.size).toBeLessThanOrEqual(100);
  });

  it('forget whoever owes nothing', async () => {
    const { now, move } = clock();
    const store = new LocalLimitStore(now);
    const limits = { ...NO_LIMITS, requestsPerMinute: 5 };
    const entrance = { subject: 'gone', ticket: 't', limits };
    await store.admit(entrance);
    await store.release(entrance);
    move(2 * 86_400_000);
    await store.admit({ subject: 'new', ticket: 't', limits });
    expect(store.size).toBe(1);
  });
});

/** `redis.prefix`: two installations may share one Redis. */
const PREFIX = 'other';

const withRedis = describeWith(REDIS);

withRedis('limits in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  limitStoreContract(() => {
    const { now, move } = clock();
    return { store: new RedisLimitStore(redis, PREFIX, now), move };
  });

  it('go by the clock of Redis, and every key of theirs expires', async () => {
    const store = new RedisLimitStore(redis, PREFIX);
    const limits = { ...NO_LIMITS, requestsPerMinute: 1, requestsPerDay: 9 };
    await store.admit({ subject: 'ttl', ticket: 'a', limits });
    expect((await store.admit({ subject: 'ttl', ticket: 'b', limits })).refusal?.limit).toBe(
      'requestsPerMinute',
    );
    const keys = await redis.keys('other:limits:{ttl}*');
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('are shared: what one gateway lets in, another one counts', async () => {
    const limits = { ...NO_LIMITS, requestsPerMinute: 2 };
    const [one, other] = [new RedisLimitStore(redis, PREFIX), new RedisLimitStore(redis, PREFIX)];
    expect(
      (await one.admit({ subject: 'both', ticket: 'a', limits })).status.requests?.remaining,
    ).toBe(1);
    expect(
      (await other.admit({ subject: 'both', ticket: 'b', limits })).status.requests?.remaining,
    ).toBe(0);
    expect((await one.admit({ subject: 'both', ticket: 'c', limits })).refusal).toBeDefined();
  });
});

withRedis('limits while Redis is away', () => {
  it('are counted by the gateway alone, and shared again when it is back', async () => {
    const server = await RedisServer.start();
    const redis = redisClient(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 2000,
    });
    const failures: Error[] = [];
    const store = failOpenLimitStore(
      new RedisLimitStore(redis, PREFIX),
      new LocalLimitStore(),
      e => failures.push(e),
      () => undefined,
    );
    const limits = { ...NO_LIMITS, requestsPerMinute: 2 };
    const enter = async (ticket: string) =>
      (await store.admit({ subject: 'x', ticket, limits })).refusal === undefined;
    await answering(redis);
    expect(await enter('a')).toBe(true);
    await server.kill();
    expect([await enter('b'), await enter('c'), await enter('d')]).toEqual([true, true, false]);
    expect(failures).toHaveLength(3);
    await server.restart();
    await answering(redis);
    expect(await enter('e')).toBe(true);
    expect(failures).toHaveLength(3);
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });
});

/** Waits until it answers; while it is away its commands fail at once. */
async function answering(redis: Redis) {
  const answers = () =>
    redis.ping().then(
      () => true,
      () => false,
    );
  while (!(await answers())) await new Promise(resolve => setTimeout(resolve, 10));
}
