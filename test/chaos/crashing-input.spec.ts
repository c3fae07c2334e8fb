import { afterEach, describe, expect, it } from '@jest/globals';
import { Product } from '../support/product.js';
import { RedisServer } from '../support/redis-server.js';
import { syntheticModel } from '../support/synthetic-model.js';

const POISON = 'deadly';
const faults = [{ marker: POISON, action: 'crash' }];

/** `count` uploads, some of which end the engine. */
const uploads = (count: number, ...poisoned: readonly number[]): string[] =>
  Array.from(
    { length: count },
    (_, index) => `clip ${index}${poisoned.includes(index) ? ` ${POISON}` : ''}`,
  );

describe('an input that ends its worker', () => {
  let product: Product;
  afterEach(async () => product[Symbol.asyncDispose]());

  const outcomes = async (texts: readonly string[], priority: 'realtime' | 'batch' = 'batch') => {
    const answers = await Promise.all(texts.map(text => product.transcribe(text, { priority })));
    return Promise.all(
      answers.map(async answer => {
        if (answer.status === 200) return '200';
        const { error } = (await answer.json()) as { error: { code: string } };
        return `${answer.status} ${error.code} ${answer.headers.get('x-should-retry')}`;
      }),
    );
  };
  const expected = (texts: readonly string[]): string[] =>
    texts.map(text => (text.includes(POISON) ? '500 worker_crashed false' : '200'));
  const restarts = async (): Promise<number> =>
    (await product.workers()).reduce((sum, worker) => sum + worker.restarts, 0);

  it('in a group of eight fails alone after four deaths; its seven neighbours are answered', async () => {
    product = await Product.start([syntheticModel({ baseMs: 50, maxBatch: 8, faults })]);
    const texts = uploads(8, 3);
    expect(await outcomes(texts)).toEqual(expected(texts));
    expect(await restarts()).toBeLessThanOrEqual(4);
    expect(await product.books()).toEqual({
      accepted: 8,
      queued: 0,
      running: 0,
      settled: 8,
    });
  });

  it('without groups takes no request with it that was sent ahead', async () => {
    product = await Product.start([syntheticModel({ baseMs: 50, maxBatch: 1, faults })]);
    const texts = uploads(4, 0);
    expect(await outcomes(texts)).toEqual(expected(texts));
    expect(await restarts()).toBeLessThanOrEqual(3);
  });

  it('fails alone also where workers pull from Redis', async () => {
    await using redis = await RedisServer.start();
    const settings = { 'queue.driver': 'redis', 'redis.url': redis.url };
    product = await Product.start([syntheticModel({ baseMs: 50, maxBatch: 8, faults })], settings);
    const texts = uploads(8, 3);
    expect(await outcomes(texts)).toEqual(expected(texts));
    // Refused when it is sent again; what its tenant sends next runs alone.
    await product.allReady();
    const before = await restarts();
    expect(await outcomes([texts[3]!])).toEqual(['500 worker_crashed false']);
    expect(await restarts()).toBe(before);
    const next = uploads(12, 10).slice(8);
    expect(await outcomes(next)).toEqual(expected(next));
    await product.allReady();
    expect(await restarts()).toBe(before + 2);
  });

  it('is refused when it is sent again, and what its tenant sends next runs on one of two replicas', async () => {
    product = await Product.start([
      syntheticModel({ baseMs: 50, maxBatch: 4, faults }, { replicas: 2 }),
    ]);
    const [poison] = uploads(1, 0);
    expect(await outcomes([poison!])).toEqual(['500 worker_crashed false']);
    await product.allReady();
    const before = await restarts();
    expect(await outcomes([poison!])).toEqual(['500 worker_crashed false']);
    expect(await restarts()).toBe(before);
    const byWorker = async (): Promise<number[]> =>
      (await product.workers()).map(worker => worker.restarts);
    const first = await byWorker();
    const texts = uploads(12, 4, 9).slice(1);
    expect(await outcomes(texts)).toEqual(expected(texts));
    const grown = (await byWorker()).filter((count, index) => count > first[index]!);
    expect(grown).toHaveLength(1);
  });

  it('leaves its tenant served where one replica takes streams only', async () => {
    const replicas = [{ role: 'stream' }, { role: 'file' }] as const;
    product = await Product.start([
      syntheticModel(
        { baseMs: 50, maxBatch: 4, streams: 1, faults },
        { capabilities: ['transcribe', 'stream'], replicas },
      ),
    ]);
    const texts = uploads(3, 0);
    expect(await outcomes(texts.slice(0, 1))).toEqual(['500 worker_crashed false']);
    expect(await outcomes(texts.slice(1))).toEqual(['200', '200']);
  });

  it('and is REALTIME takes none of those with it that wait for two workers', async () => {
    product = await Product.start([
      syntheticModel({ baseMs: 50, maxBatch: 4, faults }, { replicas: 2 }),
    ]);
    const texts = uploads(24, 0, 11);
    expect(await outcomes(texts, 'realtime')).toEqual(expected(texts));
    expect(await restarts()).toBeLessThanOrEqual(8);
  });
});
