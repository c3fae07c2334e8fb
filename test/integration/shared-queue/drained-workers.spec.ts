import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { RedisServer } from '../../support/redis-server.js';
import { syntheticModel } from '../../support/synthetic-model.js';

let redis: RedisServer;
let product: Product;

beforeAll(async () => {
  redis = await RedisServer.start();
  const settings = { 'queue.driver': 'redis', 'redis.url': redis.url } as const;
  product = await Product.start([syntheticModel({}, { replicas: 2 })], settings);
}, 60_000);
afterAll(async () => {
  await product[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

interface Shown {
  readonly id: string;
  readonly drained: boolean;
}

const order = async (id: string, verb: 'drain' | 'resume' | 'restart') => {
  const answer = await fetch(`${product.url}/admin/v1/workers/${id}/${verb}`, {
    method: 'POST',
  });
  return { status: answer.status, body: (await answer.json()) as Shown };
};
const drained = async (id: string) =>
  (await product.json<{ data: Shown[] }>('/admin/v1/workers')).data.find(worker => worker.id === id)
    ?.drained;
const workerOf = async (id: string) => {
  expect((await product.transcribe('hello', { id })).status).toBe(200);
  return (await product.json<{ worker?: string }>(`/admin/v1/requests/${id}`)).worker ?? '';
};

it('a drained worker takes nothing from the shared queue until it is resumed; others serve', async () => {
  await product.until(
    'the other has announced itself',
    async () => (await order('synthetic-1', 'resume')).status === 200,
  );
  await product.until(
    'it has announced itself',
    async () => (await order('synthetic-0', 'drain')).status === 200,
  );
  await product.until(
    'the worker has seen it',
    async () => (await drained('synthetic-0')) === true,
  );
  const served = new Set<string>();
  for (let n = 0; n < 6; n++) served.add((await workerOf(`r${n}`)).replace(/\..*/, ''));
  expect([...served]).toEqual(['synthetic-1']);

  expect(await order('synthetic-1', 'drain')).toMatchObject({
    status: 200,
    body: { drained: true },
  });
  await product.until('both have seen it', async () => (await drained('synthetic-1')) === true);
  const waits = product.transcribe('hello', { id: 'waits' });
  await product.until('it waits', async () => {
    const { state } = await product.json<{ state?: string }>('/admin/v1/requests/waits');
    return state === 'queued';
  });
  expect(await order('synthetic-0', 'resume')).toMatchObject({
    status: 200,
    body: { drained: false },
  });
  expect((await waits).status).toBe(200);
  const { worker } = await product.json<{ worker?: string }>('/admin/v1/requests/waits');
  expect(worker).toMatch(/^synthetic-0/);
  await order('synthetic-1', 'resume');
}, 60_000);

it('a worker that pulls cannot be restarted from here, and one that is unknown not be drained', async () => {
  expect((await order('synthetic-0', 'restart')).status).toBe(409);
  expect((await order('none', 'drain')).status).toBe(404);
});
