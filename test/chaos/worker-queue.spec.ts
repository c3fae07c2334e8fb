import { afterEach, describe, expect, it } from '@jest/globals';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

const SLOW = { baseMs: 400, maxBatch: 4 };

/**
 * One worker of two replicas ends with 8 in flight and dozens queued; its sibling and the
 * worker of another model go on.
 */
describe.each([
  ['kill -9', 'SIGKILL'],
  ['SIGSTOP', 'SIGSTOP'],
] as const)('%s of a worker with 8 in flight and dozens queued', (_, signal) => {
  let product: Product;
  afterEach(async () => product[Symbol.asyncDispose]());

  const worker = async (id: string) => (await product.workers()).find(view => view.id === id)!;

  it('answers each request once after at most one retry, spares its neighbours, keeps the gauges exact', async () => {
    const other = syntheticModel(SLOW, { id: 'other', replicas: 1 });
    product = await Product.start([syntheticModel(SLOW, { replicas: 2 }), other]);
    await product.allReady();
    const [victim, sibling, stranger] = await Promise.all(
      ['synthetic-0', 'synthetic-1', 'other-0'].map(worker),
    );

    // 8 slots each: 66 requests are 16 in flight, 8 of them on the victim, and 50 queued,
    // if all come before a group ends.
    const answers = Array.from({ length: 66 }, (_, index) => product.transcribe(`clip ${index}`));
    const strangers = Array.from({ length: 8 }, (_, index) =>
      product.transcribe(`other ${index}`, { model: 'other' }),
    );
    await product.until('8 in flight on it, dozens queued', async () => {
      const { queued } = await product.books();
      return (await worker('synthetic-0')).slots.free === 0 && queued >= 24;
    });
    process.kill(victim!.pid!, signal);
    expect(await balance()).toBe(0);

    const settled = await Promise.all(answers);
    expect(settled.map(({ status }) => status)).toEqual(Array(66).fill(200));
    const texts = await Promise.all(
      settled.map(async answer => ((await answer.json()) as { text: string }).text),
    );
    expect(new Set(texts).size).toBe(66);
    const attempts = settled.map(({ headers }) => Number(headers.get('x-switchyard-attempts')));
    expect(Math.max(...attempts)).toBe(2);
    expect(attempts.filter(count => count === 2).length).toBeLessThanOrEqual(12);

    const unharmed = await Promise.all(strangers);
    expect(
      unharmed.map(({ status, headers }) => [status, headers.get('x-switchyard-attempts')]),
    ).toEqual(Array(8).fill([200, '1']));
    expect(await worker('synthetic-1')).toMatchObject({
      pid: sibling!.pid,
      restarts: 0,
    });
    expect(await worker('other-0')).toMatchObject({ pid: stranger!.pid, restarts: 0 });
    expect(await product.books()).toEqual({
      accepted: 74,
      queued: 0,
      running: 0,
      settled: 74,
    });
    await product.until(
      'its successor',
      async () => (await worker('synthetic-0')).state === 'ready',
    );
    expect(await worker('synthetic-0')).toMatchObject({
      restarts: 1,
      slots: { total: 8, free: 8 },
    });
  }, 60_000);

  /** What one scrape says is accepted, less what it says became of it. */
  async function balance(): Promise<number> {
    const { accepted, queued, running, settled } = await product.books();
    return accepted - queued - running - settled;
  }
});
