import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayProcess } from '../../support/gateway-process.js';
import { hasRedis, RedisServer } from '../../support/redis-server.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { until } from '../../support/waiting.js';

const LIMIT_MS = 90_000;
/** Each of these waited 5 s for a Redis that hangs. */
const VIEWS = ['/metrics', '/admin/v1/queue', '/admin/v1/requests', '/admin/v1/workers', '/health'];
const ROUNDS = 8;

const model = syntheticModel(
  { baseMs: 50, dimensions: 4 },
  { id: 'embed', kind: 'embedding', capabilities: ['embeddings', 'dimensions'] },
);

(hasRedis ? describe : describe.skip)('a gateway whose Redis hangs or is away', () => {
  let redis: RedisServer;
  let folder: string;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    redis = await RedisServer.start();
    folder = await mkdtemp(join(tmpdir(), 'switchyard-hang-'));
    const settings = {
      ...{ 'queue.driver': 'redis', 'redis.url': redis.url, 'limits.requests_per_minute': 100_000 },
      'requests.idempotency': 'auto',
    } as const;
    gateway = await GatewayProcess.start([model], settings, { folder });
  }, LIMIT_MS);

  beforeEach(() => ready(200), LIMIT_MS);

  afterAll(async () => {
    redis.resume();
    await gateway[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  async function embed(
    headers: Record<string, string> = {},
  ): Promise<{ status: number; code?: string; retry: number }> {
    const reply = await fetch(`http://127.0.0.1:${gateway.port}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify({ model: 'embed', input: 'x' }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    const { error } = (await reply.json()) as { error?: { code: string } };
    return {
      status: reply.status,
      retry: Number(reply.headers.get('retry-after')),
      ...(error && { code: error.code }),
    };
  }

  async function ready(status: number): Promise<void> {
    const holds = async (): Promise<boolean> => {
      await new Promise(resolve => setTimeout(resolve, 50));
      return (await gateway.call('GET', '/health/ready')).status === status;
    };
    if (!(await until(holds, 40_000))) throw new Error(`not ${status}: ${await gateway.process.logTail()}`);
  }

  const json = async (path: string): Promise<unknown> =>
    JSON.parse((await gateway.call('GET', path)).body.toString()) as unknown;
  const up = async (): Promise<Record<string, number>> => {
    const scrape = await gateway.scrape();
    return { redis: scrape.sum('switchyard_dependency_up', 'dependency="redis"') };
  };
  const view = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const path of VIEWS) expect([path, (await gateway.call('GET', path)).status]).toEqual([path, 200]);
    }
  };

  it('tells that all its dependencies are up', async () => {
    expect(await json('/health')).toMatchObject({
      status: 'ok',
      dependencies: { redis: { status: 'up' }, database: { status: 'up' }, blobs: { status: 'up' } },
    });
    expect(await up()).toEqual({ redis: 1 });
  });

  it(
    'answers scrapes and admin without waiting for a Redis that hangs, is not ready meanwhile, and recovers by itself',
    async () => {
      redis.pause();
      try {
        await view();
        await ready(503);
        expect(await up()).toEqual({ redis: 0 });
        expect(await json('/admin/v1/dependencies')).toMatchObject({
          data: expect.arrayContaining([
            expect.objectContaining({ name: 'redis', status: 'down', error: expect.any(String) as unknown }),
          ]) as unknown,
        });
        await view();
      } finally {
        redis.resume();
      }
      await ready(200);
      expect(await up()).toEqual({ redis: 1 });
      expect((await embed()).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    'loses nothing while Redis hangs: what comes is answered or refused with 503 and a time to come back, never with 500',
    async () => {
      const before = Array.from({ length: 8 }, (_, n) => embed({ 'x-request-id': `before-${n}` }));
      redis.pause();
      const during = Array.from({ length: 8 }, (_, n) => embed({ 'idempotency-key': `during-${n}` }));
      const refused = await embed();
      expect(refused).toMatchObject({ status: 503, code: 'queue_unavailable' });
      expect(refused.retry).toBeGreaterThan(0);
      redis.resume();
      const answers = await Promise.all([...before, ...during]);
      for (const { status, code, retry } of answers) {
        if (status !== 200) expect([status, code, retry > 0]).toEqual([503, 'queue_unavailable', true]);
      }
      await ready(200);
      const again = await Promise.all(Array.from({ length: 8 }, (_, n) => embed({ 'idempotency-key': `during-${n}` })));
      expect(again.map(({ status }) => status)).toEqual(Array(8).fill(200));
    },
    LIMIT_MS,
  );

  it(
    'answers scrapes and admin while Redis is killed, and is ready again once it is back',
    async () => {
      await redis.kill();
      await ready(503);
      await view();
      expect(await until(async () => (await up()).redis === 0)).toBe(true);
      await redis.restart();
      await ready(200);
      expect((await embed()).status).toBe(200);
    },
    LIMIT_MS,
  );
});
