import { type Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { LockKeeper } from '@switchyard/shared-queue/worker/lock-keeper.js';
import { type LockThreadData } from '@switchyard/shared-queue/worker/lock.thread.js';
import { type TakenJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { type WorkerLink } from '@switchyard/shared-queue/worker/worker-link.js';
import { type Redis } from 'ioredis';
import { pino } from 'pino';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/waiting.js';

class MortalKeeper extends LockKeeper {
  readonly threads: Worker[] = [];

  protected override spawn(workerData: LockThreadData): Worker {
    this.threads.push(super.spawn(workerData));
    return this.threads.at(-1)!;
  }
}

describe('thread that renews locks', () => {
  let server: RedisServer;
  let redis: Redis;
  let keeper: MortalKeeper;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
    const link = {
      ...{ keys: new QueueKeys('p'), announcedId: 'w' },
      sharedQueue: { server: { port: server.port }, lockMs: 1500 },
    } as unknown as WorkerLink;
    keeper = new MortalKeeper(link, 'p:q', 'w:locks', pino({ level: 'silent' }));
  });
  afterAll(async () => {
    await keeper.close();
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  const leftMs = () => redis.pttl('p:q:job:lock');

  it('is started again when it dies, and goes on with what is held', async () => {
    await keeper.start();
    await redis.set('p:q:job:lock', 'token', 'PX', 3_600_000);
    using _held = keeper.hold(
      { id: 'job', token: 'token' } as TakenJob,
      Date.now() + 3_600_000,
      () => undefined,
    );
    await until(async () => (await leftMs()) < 2000);

    await redis.set('p:q:job:lock', 'token', 'PX', 3_600_000);
    await keeper.threads[0]!.terminate();
    await redis.set('p:q:job:lock', 'token', 'PX', 3_600_000);
    await until(async () => (await leftMs()) < 2000);
    expect(keeper.threads).toHaveLength(2);
    await keeper.start();
  });

  it('keeps the announcement of a worker whose event loop is held while it has a job', async () => {
    await redis.set(new QueueKeys('p').worker('w'), 'announced', 'PX', 2000);
    await redis.set('p:q:job:lock', 'token', 'PX', 3_600_000);
    using _held = keeper.hold(
      { id: 'job', token: 'token' } as TakenJob,
      Date.now() + 3_600_000,
      () => undefined,
    );
    await until(async () => (await redis.pttl(new QueueKeys('p').worker('w'))) > 2000);
  });
});
