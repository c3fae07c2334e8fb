import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { Ledger } from './ledger.js';
import { expectComputedOnce } from './queue-journal.js';
import { type Topology } from './topology.js';

const JOURNAL = 'switchyard:requests-synthetic:events';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  redis = redisClient(`redis://127.0.0.1:${server.port}`);
});
afterAll(async () => {
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});

async function completed(...ids: readonly string[]): Promise<void> {
  const result = JSON.stringify({ outcome: 'completed' });
  for (const id of ids) {
    const fields = { event: 'completed', jobId: `tenant.${id}`, returnvalue: result };
    await redis.xadd(JOURNAL, '*', ...Object.entries(fields).flat());
  }
}

async function judged(ledger: Ledger): Promise<readonly string[]> {
  const topology = { of: () => [{ spec: server }] } as unknown as Topology;
  await expectComputedOnce(topology, ledger);
  return ledger.violations.map(({ text }) => text);
}

describeWith(REDIS)('two results of one job', () => {
  it('are judged by the ledger of their own episode, also when episodes share a Redis', async () => {
    const first = new Ledger();
    first.mayRunAgain.add('tenant.left');
    await completed('left', 'left');
    expect(await judged(first)).toEqual([]);
    expect(await judged(new Ledger())).toEqual([]);
    await completed('stayed', 'stayed');
    expect(await judged(new Ledger())).toEqual(['jobs with two results: tenant.stayed']);
  });
});
