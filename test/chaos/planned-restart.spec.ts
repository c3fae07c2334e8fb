import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { NodeProcess } from '../support/node-process.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

const OPTIONS = { baseMs: 20, maxBatch: 4 };

/** Two workers that somebody else runs, as a rolling restart meets them. */
class Workers implements AsyncDisposable {
  readonly #processes = new Map<number, NodeProcess>();
  #started = 0;

  constructor(private readonly folder: string) {}

  async start(port: number): Promise<void> {
    this.#started += 1;
    const worker = new NodeProcess({
      name: `worker-${this.#started}`,
      script: resolve('dist/main.worker.js'),
      args: ['--model', 'synthetic', '--listen', `127.0.0.1:${port}`],
      env: { SWITCHYARD_WORKERS_MODELS_FILE: join(this.folder, 'worker-models.yaml') },
      folder: this.folder,
    });
    this.#processes.set(port, worker);
    await worker.message('ready');
  }

  /** SIGTERM, and waits for the process to end. */
  async terminate(port: number): Promise<void> {
    const { child } = this.#processes.get(port)!;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes.values()].map(worker => worker[Symbol.asyncDispose]()));
  }
}

describe('SIGTERM of one of two workers under load', () => {
  let folder: string;
  let ports: number[];
  let workers: Workers;
  let product: Product;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-restart-'));
    ports = [await freePort(), await freePort()];
    await writeFile(join(folder, 'worker-models.yaml'), JSON.stringify({ models: [syntheticModel(OPTIONS)] }));
    workers = new Workers(folder);
    await Promise.all(ports.map(port => workers.start(port)));
    const addresses = ports.map(port => `127.0.0.1:${port}`);
    product = await Product.start([syntheticModel(OPTIONS, { replicas: 0, addresses })]);
    await bothReady();
  });

  afterEach(async () => {
    await product[Symbol.asyncDispose]();
    await workers[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const bothReady = () =>
    product.until(
      'both workers to be ready',
      async () => (await product.workers()).filter(({ state }) => state === 'ready' || state === 'busy').length === 2,
    );

  it('six times in turn fails none of the requests, and counts no attempt of a worker that drains', async () => {
    const statuses: number[] = [];
    let attempts = 0;
    let running = true;
    const caller = async (): Promise<void> => {
      for (let sent = 0; running; sent += 1) {
        const answer = await product.transcribe(`clip ${sent}`);
        await answer.arrayBuffer();
        statuses.push(answer.status);
        attempts = Math.max(attempts, Number(answer.headers.get('x-switchyard-attempts')));
      }
    };
    const callers = Array.from({ length: 12 }, caller);
    for (const port of [...ports, ...ports, ...ports]) {
      const before = statuses.length;
      await product.until('load on both', () => Promise.resolve(statuses.length > before + 20));
      await workers.terminate(port);
      await workers.start(port);
      await bothReady();
    }
    running = false;
    await Promise.all(callers);
    expect(statuses.filter(status => status !== 200)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(120);
    expect(attempts).toBeLessThanOrEqual(2);
  });
});
