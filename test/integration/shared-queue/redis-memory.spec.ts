import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { GatewayProcess, type SettingOverrides } from '../../support/gateway-process.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

const LIMIT_MS = 120_000;
const INPUTS = 64;
const DIMENSIONS = 1536;
/**
 * Without an end, and of bounded size: BullMQ's own of a queue, and the list of workers.
 */
const KEPT = /:(meta|id|pc|events|marker)$|^other:plane:workers$/;

const model = syntheticModel(
  { steps: 10, baseMs: 200, dimensions: DIMENSIONS },
  { id: 'embed', kind: 'embedding', capabilities: ['embeddings', 'dimensions'] },
);
/** 45 kB; its answer has 524 kB. */
const body = JSON.stringify({
  model: 'embed',
  input: Array<string>(INPUTS).fill('x'.repeat(700)),
});

describeWith(REDIS)('memory of Redis', () => {
  let redis: RedisServer;
  let client: Redis;
  let folder: string;
  /** Has the worker. */
  let a: GatewayProcess;
  const settings = (): SettingOverrides => ({
    ...{
      'queue.driver': 'redis',
      'redis.url': redis.url,
      'redis.prefix': 'other',
      'redis.result_ttl_ms': 1000,
    },
    ...{
      'data.dir': join(folder, 'data'),
      'requests.idempotency': 'off',
      'limits.requests_per_minute': 100_000,
    },
  });

  beforeAll(async () => {
    redis = await RedisServer.start();
    client = redisClient(redis.url);
    folder = temporaryFolder();
    a = await GatewayProcess.start([model], settings(), { folder });
  }, LIMIT_MS);

  afterAll(async () => {
    await a[Symbol.asyncDispose]();
    client.disconnect();
    await redis[Symbol.asyncDispose]();
  }, LIMIT_MS);

  const embed = (gateway: GatewayProcess, signal?: AbortSignal): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/embeddings`, {
      ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
      ...(signal && { signal }),
    });
  const holds = (what: string, check: () => Promise<boolean>): Promise<void> =>
    until(check, { what, limitMs: 30_000, told: () => client.keys('*') });
  const endless = async (): Promise<string[]> => {
    const keys = await client.keys('*');
    const ttls = await Promise.all(keys.map(key => client.pttl(key)));
    return keys.filter((key, at) => ttls[at] === -1 && !KEPT.test(key));
  };
  const jobs = async (): Promise<string[]> => client.keys('other:requests-embed:*.*');
  const blobs = async (): Promise<string[]> => {
    const plane = join(folder, 'data', 'blobs', 'plane');
    // The store removes folders that became empty, so this one may be missing.
    const entries = await readdir(plane, { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      },
    );
    return entries.filter(entry => entry.isFile()).map(({ name }) => name);
  };
  const events = 'other:requests-embed:events';

  it(
    'is given back after 40 embedding requests with answers of 524 kB: no job, no large event, no blob stays',
    async () => {
      for (let round = 0; round < 4; round++) {
        const sent = Array.from({ length: 10 }, () => embed(a));
        await holds('jobs are in Redis', async () => (await jobs()).length > 0);
        const answers = await Promise.all(sent);
        for (const answer of answers) {
          const { data } = (await answer.json()) as { data: { embedding: number[] }[] };
          expect([answer.status, data.length, data[0]?.embedding.length]).toEqual([
            200,
            INPUTS,
            DIMENSIONS,
          ]);
        }
      }
      await holds('all jobs expire', async () => (await jobs()).length === 0);
      await holds('all blobs are removed', async () => (await blobs()).length === 0);
      await holds('nothing stays without an end', async () => (await endless()).length === 0);
      // 40 answers are 21 MB.
      expect(await client.memory('USAGE', events, 'SAMPLES', 0)).toBeLessThan(200_000);
    },
    LIMIT_MS,
  );

  it(
    'is given back when clients vanish, and when a gateway is killed before it has the answers',
    async () => {
      const b = await GatewayProcess.start([{ ...model, replicas: 0 }], settings(), {
        folder: join(folder),
      });
      const leave = new AbortController();
      const left = Array.from({ length: 10 }, (_, n) =>
        embed(n % 2 ? a : b, leave.signal).catch(() => 'left'),
      );
      const lost = Array.from({ length: 10 }, () => embed(b).catch(() => 'lost'));
      await holds('they are in Redis', async () => (await jobs()).length >= 8);
      leave.abort();
      expect(await Promise.all(left)).toEqual(Array(10).fill('left'));
      b.process.child.kill('SIGKILL');
      await Promise.all(lost);
      expect((await embed(a)).status).toBe(200);
      await holds('all jobs expire', async () => (await jobs()).length === 0);
      await holds('nothing stays without an end', async () => (await endless()).length === 0);
      await b[Symbol.asyncDispose]();
    },
    LIMIT_MS,
  );
});
