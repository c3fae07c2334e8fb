import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { GatewayProcess } from '../../support/gateway-process.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

const LIMIT_MS = 90_000;
/** Each of these waited 5 s for a Redis that hangs. */
const VIEWS = ['/metrics', '/admin/v1/queue', '/admin/v1/requests', '/admin/v1/workers', '/health'];
const ROUNDS = 5;

const embedder = (id: string, baseMs: number) =>
  syntheticModel(
    { baseMs, dimensions: 4 },
    { id, kind: 'embedding', capabilities: ['embeddings', 'dimensions'] },
  );
const models = [embedder('embed', 50), embedder('slow', 3000)];

describeWith(REDIS)('a gateway whose Redis hangs or is away', () => {
  let redis: RedisServer;
  let folder: string;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    redis = await RedisServer.start();
    folder = temporaryFolder();
    gateway = await GatewayProcess.start(models, settings(), { folder });
  }, LIMIT_MS);

  const settings = () =>
    ({
      ...{
        'queue.driver': 'redis',
        'redis.url': redis.url,
        'limits.requests_per_minute': 100_000,
      },
      ...{ 'requests.idempotency': 'auto', 'requests.lease_ms': 1500 },
    }) as const;

  beforeEach(() => ready(200), LIMIT_MS);

  afterAll(async () => {
    redis.resume();
    await gateway[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, LIMIT_MS);

  const post = (body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  async function embed(
    headers: Record<string, string> = {},
  ): Promise<{ status: number; code?: string; retry: number }> {
    const reply = await post({ model: 'embed', input: 'x' }, headers);
    const { error } = (await reply.json()) as { error?: { code: string } };
    return {
      status: reply.status,
      retry: Number(reply.headers.get('retry-after')),
      ...(error && { code: error.code }),
    };
  }

  const ready = (status: number): Promise<void> =>
    until(async () => (await gateway.call('GET', '/health/ready')).status === status, {
      ...{ what: `ready is ${status}`, told: () => gateway.process.logTail() },
    });

  const json = async (path: string): Promise<unknown> =>
    JSON.parse((await gateway.call('GET', path)).body.toString()) as unknown;
  const up = async (): Promise<Record<string, number>> => {
    const scrape = await gateway.scrape();
    return { redis: scrape.sum('switchyard_dependency_up', 'dependency="redis"') };
  };
  const view = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const path of VIEWS)
        expect([path, (await gateway.call('GET', path)).status]).toEqual([path, 200]);
    }
  };

  it('tells that all its dependencies are up', async () => {
    const healthy = async (): Promise<boolean> =>
      ((await json('/health')) as { status: string }).status === 'ok';
    await until(healthy);
    expect(await json('/health')).toMatchObject({
      dependencies: {
        redis: { status: 'up' },
        database: { status: 'up' },
        blobs: { status: 'up' },
      },
    });
    expect(await up()).toEqual({ redis: 1 });
  });

  it(
    'answers scrapes and admin without waiting for a Redis that hangs, is not ready meanwhile, and recovers by itself',
    async () => {
      const unknown = async (): Promise<number> =>
        (await gateway.call('GET', '/admin/v1/requests/unknown')).status;
      expect(await unknown()).toBe(404);
      redis.pause();
      try {
        await view();
        await ready(503);
        // Another gateway may have it.
        expect(await unknown()).toBe(503);
        expect(await up()).toEqual({ redis: 0 });
        expect(await json('/admin/v1/dependencies')).toMatchObject({
          data: expect.arrayContaining([
            expect.objectContaining({
              name: 'redis',
              status: 'down',
              error: expect.any(String) as unknown,
            }),
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
    'loses nothing while Redis hangs: each request is answered or rejected with 503 and a retry time, never 500',
    async () => {
      const before = Array.from({ length: 8 }, (_, n) => embed({ 'x-request-id': `before-${n}` }));
      redis.pause();
      const during = Array.from({ length: 8 }, (_, n) =>
        embed({ 'idempotency-key': `during-${n}` }),
      );
      const refused = await embed();
      expect(refused).toMatchObject({ status: 503, code: 'queue_unavailable' });
      expect(refused.retry).toBeGreaterThan(0);
      redis.resume();
      const answers = await Promise.all([...before, ...during]);
      for (const { status, code, retry } of answers) {
        if (status !== 200)
          expect([status, code, retry > 0]).toEqual([503, 'queue_unavailable', true]);
      }
      await ready(200);
      const again = await Promise.all(
        Array.from({ length: 8 }, (_, n) => embed({ 'idempotency-key': `during-${n}` })),
      );
      expect(again.map(({ status }) => status)).toEqual(Array(8).fill(200));
    },
    LIMIT_MS,
  );

  it(
    'runs an async request of a killed gateway that it took over while Redis hung, once Redis is back',
    async () => {
      const accepted = await post(
        { model: 'slow', input: 'x' },
        { prefer: 'respond-async', 'x-request-id': 'later' },
      );
      expect(accepted.status).toBe(202);
      gateway.process.child.kill('SIGKILL');
      redis.pause();
      gateway = await GatewayProcess.start(models, settings(), {
        folder,
        until: 'live',
      });
      const took = async (): Promise<boolean> =>
        (await gateway.process.logTail()).includes('taken over from a gateway whose lease expired');
      await until(took);
      expect((await embed()).code).toBe('queue_unavailable');
      redis.resume();
      const state = async (): Promise<string> =>
        ((await json('/v1/requests/later')) as { state: string }).state;
      await until(async () => ['completed', 'failed', 'cancelled'].includes(await state()), {
        limitMs: 40_000,
      });
      expect(await state()).toBe('completed');
    },
    LIMIT_MS,
  );

  it(
    'answers scrapes and admin while Redis is killed, and is ready again once it is back',
    async () => {
      await redis.kill();
      await ready(503);
      await view();
      await until(async () => (await up()).redis === 0);
      await redis.restart();
      await ready(200);
      expect((await embed()).status).toBe(200);
    },
    LIMIT_MS,
  );
});
