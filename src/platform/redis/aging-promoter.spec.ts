import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { QueueJobClass, QueueKeys } from '../../contracts/queue-jobs/queue-keys.js';
import { AgingPromoter } from './aging-promoter.js';

const keys = new QueueKeys('spec');
const NOW = 1_000_000;

describeWith(REDIS)('AgingPromoter', () => {
  let server: RedisServer;
  let redis: Redis;
  let queue: Queue;
  let ager: AgingPromoter;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
    queue = new Queue(keys.queue('alpha'), { connection: redis, prefix: keys.prefix });
    ager = new AgingPromoter({ redis, keys, agingMs: 30_000 });
  });

  afterAll(async () => {
    await queue.close();
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  const add = (jobId: string, priority: QueueJobClass, ageMs: number) =>
    queue.add('spec', {}, { jobId, priority, timestamp: NOW - ageMs });
  const order = async () => (await queue.getJobs(['prioritized'], 0, -1, true)).map(({ id }) => id);

  it('puts what waited 30 s before everything younger, both lanes merged by time', async () => {
    await add('b-old', QueueJobClass.BATCH, 40_000);
    await add('r-old', QueueJobClass.REALTIME, 35_000);
    await add('b-just', QueueJobClass.BATCH, 30_000);
    await add('b-young', QueueJobClass.BATCH, 29_999);
    await add('r-young', QueueJobClass.REALTIME, 1000);
    expect(await order()).toEqual(['r-old', 'r-young', 'b-old', 'b-just', 'b-young']);
    expect(await ager.promote('alpha', NOW)).toEqual(['b-old', 'r-old', 'b-just']);
    expect(await order()).toEqual(['b-old', 'r-old', 'b-just', 'r-young', 'b-young']);
  });

  it('promotes once: a second look finds nothing, a later one the next', async () => {
    expect(await ager.promote('alpha', NOW)).toEqual([]);
    expect(await ager.promote('alpha', NOW + 1)).toEqual(['b-young']);
    expect(await order()).toEqual(['b-old', 'r-old', 'b-just', 'b-young', 'r-young']);
  });

  it('finds nothing in a queue that does not exist', async () => {
    expect(await ager.promote('nobody', NOW)).toEqual([]);
  });
});
