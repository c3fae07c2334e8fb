import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { NodeProcess } from '../support/node-process.js';
import { processTree } from '../support/process-tree.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

const LIMIT_MS = 5000;

/**
 * @returns those of `pids` that are alive after the limit; returns early when
 *   there are none
 */
async function orphans(pids: readonly number[]): Promise<readonly number[]> {
  for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; await pause(25)) {
    if (!pids.some(isAlive)) return [];
  }
  return pids.filter(isAlive);
}

async function kill(process: NodeProcess): Promise<void> {
  const exited = once(process.child, 'exit');
  process.child.kill('SIGKILL');
  await exited;
}

describe('kill -9 of a gateway', () => {
  const left: number[] = [];
  let folder: string;

  beforeAll(() => void (folder = temporaryFolder()));
  afterAll(() => {
    for (const pid of left.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });

  /** One parent with a child that logs and exits, and one whose event loop is blocked. */
  async function killedParent(): Promise<readonly number[]> {
    const parent = new NodeProcess({
      name: 'parent',
      script: resolve('test/support/flooding-parent.mjs'),
      folder,
    });
    const { pids } = await parent.message<{ type: 'ready'; pids: number[] }>('ready');
    left.push(...pids);
    await kill(parent);
    return pids;
  }

  it('whose workers log at full rate, 30 times: no child is left after 5 s', async () => {
    const rounds = Array.from({ length: 30 }, (_, index) => index);
    const survivors: (readonly number[])[] = [];
    const waits: Promise<number>[] = [];
    for (const _ of rounds)
      waits.push(orphans(await killedParent()).then(alive => survivors.push(alive)));
    await Promise.all(waits);
    expect(survivors.flat()).toEqual([]);
  });

  it('that has frozen workers, a frozen processor and one at work: none is left after 5 s', async () => {
    const model = syntheticModel({ baseMs: 200, maxBatch: 2 }, { replicas: 3 });
    await using product = await Product.start([model], {
      'batch.embedded': 'true',
      'logging.level': 'trace',
    });
    await product.allReady();
    const gateway = product.gateway.process;
    const children = processTree(gateway.child.pid).filter(({ pid }) => pid !== gateway.child.pid);
    const pids = children.map(({ pid }) => pid);
    left.push(...pids);
    const requests = Array.from({ length: 12 }, (_, index) =>
      product.transcribe(`clip ${index}`).catch(() => 'lost'),
    );
    await product.untilRunning(4);
    const workers = (await product.workers()).map(({ pid }) => pid!);
    const processor = children.find(({ command }) => command === 'switchyard batch')!;
    for (const pid of [workers[0]!, workers[1]!, processor.pid]) process.kill(pid, 'SIGSTOP');
    await kill(gateway);
    await Promise.all(requests);
    expect(await orphans(pids)).toEqual([]);
  });
});
