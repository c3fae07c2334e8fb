import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '../../src/platform/process/is-alive.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

const texts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `clip ${index}`);

describe('kill -9', () => {
  let product: Product;
  afterEach(async () => product[Symbol.asyncDispose]());

  const workerPid = async (): Promise<number> => (await product.workers())[0]!.pid!;

  it('of a worker with eight in flight: eight answers, each retried once on the new worker, sums right', async () => {
    product = await Product.start([syntheticModel({ baseMs: 400, maxBatch: 8 })]);
    const answers = texts(8).map(text => product.transcribe(text));
    await product.untilRunning(8);

    process.kill(await workerPid(), 'SIGKILL');

    const settled = await Promise.all(answers);
    expect(settled.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(settled.map(({ headers }) => headers.get('x-switchyard-attempts'))).toEqual(
      Array(8).fill('2'),
    );
    expect(await product.books()).toEqual({
      accepted: 8,
      queued: 0,
      running: 0,
      settled: 8,
    });
    expect((await product.workers())[0]).toMatchObject({
      state: 'ready',
      restarts: 1,
      slots: { total: 16, free: 16 },
    });
  });

  it('of the same work twice alone: 500 worker_crashed after one retry, which no client repeats', async () => {
    product = await Product.start([syntheticModel({ baseMs: 60_000, maxBatch: 2 })]);
    const answer = product.transcribe('clip');
    for (const _ of [1, 2]) {
      await product.untilRunning(1);
      const pid = await workerPid();
      process.kill(pid, 'SIGKILL');
      await product.until(
        'the worker to be gone',
        async () => (await product.workers())[0]!.pid !== pid,
      );
    }

    const { status, headers } = await answer;
    expect([status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([
      500,
      'false',
      null,
    ]);
    expect(await product.books()).toEqual({
      accepted: 1,
      queued: 0,
      running: 0,
      settled: 1,
    });
  });

  it('of one worker of two: the neighbour never notices', async () => {
    product = await Product.start([syntheticModel({ baseMs: 300, maxBatch: 1 }, { replicas: 2 })]);
    await product.until(
      'two ready',
      async () => (await product.workers()).filter(({ state }) => state === 'ready').length === 2,
    );
    const answers = texts(20).map(text => product.transcribe(text));
    await product.untilRunning(4);
    process.kill(await workerPid(), 'SIGKILL');
    const settled = await Promise.all(answers);
    expect(settled.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const retried = settled.filter(
      ({ headers }) => headers.get('x-switchyard-attempts') === '2',
    ).length;
    expect(retried).toBeLessThanOrEqual(2);
  });

  it('of the gateway: its workers end by themselves', async () => {
    product = await Product.start([syntheticModel({ baseMs: 60_000, maxBatch: 1 })]);
    const pid = await workerPid();
    const held = product.transcribe('held').catch(() => 'connection lost');
    await product.untilRunning(1);
    const { child } = product.gateway.process;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    expect(await held).toBe('connection lost');
    await product.until('the worker to end', () => Promise.resolve(!isAlive(pid)));
  });

  it('SIGSTOP of a worker: it is found hung, replaced, and its requests are answered', async () => {
    product = await Product.start([syntheticModel({ baseMs: 300, maxBatch: 4 })]);
    const answers = texts(4).map(text => product.transcribe(text));
    await product.untilRunning(4);
    process.kill(await workerPid(), 'SIGSTOP');
    const settled = await Promise.all(answers);
    expect(settled.map(({ status }) => status)).toEqual(Array(4).fill(200));
  });
});
