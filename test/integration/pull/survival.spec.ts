import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { describe, expect, it } from '@jest/globals';
import { type JobCompleted } from '@switchyard/shared-queue/result.codec.js';
import {
  HealthStub,
  type HealthCheckResponse,
  NOT_SERVING,
  SERVING,
} from '@switchyard/worker-protocol/health.codec.js';
import { blobOf } from '../../../src/platform/storage/blob-keys.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause } from '../../support/waiting.js';
import { ttsModel } from '../worker/worker-process.js';
import { PullQueue } from './pull-harness.js';

const model = syntheticModel({ steps: 100, baseMs: 20 });

async function pullHealth(address: string): Promise<HealthCheckResponse['status']> {
  const client = new HealthStub(address, credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) =>
      client.check({ service: 'switchyard.pull' }, (error, answer) =>
        error ? reject(error) : resolve(answer.status),
      ),
    );
  } finally {
    client.close();
  }
}

/** A way to Redis that breaks once, when it has passed a result on and before the confirmation. */
async function breakingLink(redisPort: number) {
  let isBroken = false;
  const server = createServer(near => {
    const far = connect(redisPort, '127.0.0.1');
    far.pipe(near);
    near.on('data', (bytes: Buffer) => {
      far.write(bytes);
      if (isBroken || !bytes.includes('"outcome":"completed"')) return;
      isBroken = true;
      far
        .unpipe()
        .resume()
        .once('data', () => near.destroy());
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => undefined).on('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server: { port: (server.address() as AddressInfo).port },
    [Symbol.dispose]: () => void server.close(),
  };
}

describe('a pull worker', () => {
  it('leaves the bytes of a result alone whose confirmation was lost', async () => {
    const sharedQueue: { server?: { port: number } } = {};
    await using harness = await PullQueue.start({ model: ttsModel, sharedQueue });
    using link = await breakingLink(harness.redis.port);
    sharedQueue.server = link.server;
    const worker = await harness.worker();
    const options = { text: 'bytes', voice: 'synthetic', format: 'wav' };
    const speech = { fields: { kind: 'speech', audio: undefined, options } };
    const { value } = (await harness.result(await harness.submit('', speech))) as JobCompleted;
    await harness.until('it tries again', () => worker.log.includes('delivery_failed'));
    await harness.result(await harness.submit('', speech));
    expect(worker.log).not.toContain('late_answer_dropped');
    expect(await harness.blobs.size(blobOf(value)!)).toBeGreaterThan(0);
  });

  it('survives a Redis that is killed and started again: not ready meanwhile, back by itself', async () => {
    await using harness = await PullQueue.start({ model });
    const worker = await harness.worker();
    const address = await worker.ready();
    expect((await harness.result(await harness.submit('before'))).outcome).toBe('completed');
    expect(await pullHealth(address)).toBe(SERVING);
    await harness.redis.kill();
    await harness.until(
      'it says that it is not ready',
      async () => (await pullHealth(address)) === NOT_SERVING,
    );
    await harness.redis.restart();
    await harness.until('it is ready again', async () => (await pullHealth(address)) === SERVING);
    expect((await harness.result(await harness.submit('after'))).outcome).toBe('completed');
  });

  it('survives cut connections while it waits and while it works', async () => {
    await using harness = await PullQueue.start({ model });
    await harness.worker();
    for (const round of [1, 2, 3]) {
      const jobs = await Promise.all(
        ['a', 'b', 'c'].map(text => harness.submit(`${text}${round}`)),
      );
      await harness.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const results = await harness.results(jobs);
      expect(results.map(({ outcome }) => outcome)).toEqual([
        'completed',
        'completed',
        'completed',
      ]);
    }
  });

  it('keeps results while the memory of Redis is full, renews its locks, and delivers when there is room', async () => {
    await using harness = await PullQueue.start({
      model: syntheticModel({ steps: 100, baseMs: 1500 }),
    });
    await harness.worker();
    const job = await harness.submit('kept');
    await harness.until('it is active', () => job.isActive());
    await harness.client.config('SET', 'maxmemory-policy', 'noeviction');
    await harness.client.config('SET', 'maxmemory', '1');
    const starved = harness.submit('never').catch((error: Error) => error.message);
    expect(await starved).toContain('OOM');
    await harness.until(
      'its lock was renewed once',
      async () => (await harness.client.pttl(harness.lockOf(job))) > 0,
    );
    await harness.client.config('SET', 'maxmemory', '0');
    const result = await harness.result(job);
    expect(result).toMatchObject({ outcome: 'completed', phases: { attempts: 1 } });
  });

  it('survives a failover: its Redis rejects writes and unblocks clients until one accepts writes', async () => {
    await using harness = await PullQueue.start({
      model: syntheticModel({ steps: 100, baseMs: 500 }),
    });
    await harness.worker();
    expect((await harness.result(await harness.submit('before'))).outcome).toBe('completed');
    const job = await harness.submit('while it works');
    await harness.until('it is active', () => job.isActive());
    // A replica of nobody that can be reached: what the old master is once the new
    // one was elected.
    await harness.client.call('REPLICAOF', '127.0.0.1', '1');
    expect(await harness.submit('refused').catch((error: Error) => error.message)).toContain(
      'READONLY',
    );
    // Long enough that the answer is usually computed, and refused, in between.
    await pause(1000);
    await harness.client.call('REPLICAOF', 'NO', 'ONE');
    expect(await harness.result(job)).toMatchObject({ outcome: 'completed' });
    expect((await harness.result(await harness.submit('after'))).outcome).toBe('completed');
  });

  it('survives a Redis that has forgotten its scripts', async () => {
    await using harness = await PullQueue.start({ model });
    await harness.worker();
    expect((await harness.result(await harness.submit('one'))).outcome).toBe('completed');
    await harness.client.script('FLUSH');
    expect((await harness.result(await harness.submit('two'))).outcome).toBe('completed');
  });
});
