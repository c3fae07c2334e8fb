import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { workerEnvironment } from '../../src/platform/config/worker-spec.js';
import { freePort } from '../support/free-port.js';
import { NodeProcess } from '../support/node-process.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const remote = (port: number) =>
  syntheticModel({ baseMs: 5, maxBatch: 8 }, { replicas: 0, addresses: [`127.0.0.1:${port}`] });

describe('no worker', () => {
  let product: Product;
  afterEach(async () => product[Symbol.asyncDispose]());

  it('at all: an honest 503 no_worker with Retry-After when the queue deadline passes', async () => {
    // The default of 120 s would only be waited for.
    product = await Product.start(
      [remote(await freePort())],
      { 'queue.timeout_ms': 300 },
      { until: 'live' },
    );
    const answer = await product.transcribe('lost');
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('no_worker');
    expect(await product.books()).toEqual({
      accepted: 1,
      queued: 0,
      running: 0,
      settled: 1,
    });
  });

  it('for a while: what waits is served when one comes up, twice', async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    product = await Product.start([remote(port)], {}, { until: 'live' });
    for (const round of [1, 2]) {
      const answers = Array.from({ length: 12 }, (_, index) =>
        product.transcribe(`round ${round} clip ${index}`),
      );
      await product.until('all twelve queued', async () => (await product.books()).queued === 12);

      const worker = startWorker(port, folder, round);
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
      const exited = once(worker.child, 'exit');
      worker.child.kill('SIGKILL');
      await exited;
      await product.until(
        'the pool to notice',
        async () => (await product.workers())[0]!.state === 'lost',
      );
    }
    expect(await product.books()).toEqual({
      accepted: 24,
      queued: 0,
      running: 0,
      settled: 24,
    });
  });
});

function startWorker(port: number, folder: string, round: number): NodeProcess {
  const env = workerEnvironment({
    workerId: `remote-${round}`,
    model: remote(port),
    host: '127.0.0.1',
    port,
    // What the gateway needs: a worker that takes less is refused.
    maxMessageBytes: 64_000_000,
    uploadLimitBytes: 1_000_000,
    prepParallel: 4,
    keepaliveTimeMs: 10_000,
    keepaliveTimeoutMs: 5000,
    shutdownGraceMs: 1000,
    logLevel: 'warn',
  });
  return new NodeProcess({
    name: `worker-${round}`,
    script: resolve('dist/main.worker.js'),
    env,
    folder,
  });
}
