import { describe, expect, it, jest } from '@jest/globals';
import { credentials } from '@grpc/grpc-js';
import {
  HealthStub,
  type HealthCheckResponse,
  NOT_SERVING,
  SERVING,
} from '../../../src/contracts/grpc/health.codec.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause } from '../../support/waiting.js';
import { PullQueue } from './pull-plane.js';

const model = syntheticModel({ steps: 100, baseMs: 20 });

async function pullHealth(address: string): Promise<HealthCheckResponse['status']> {
  const client = new HealthStub(address, credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) =>
      client.check({ service: 'switchyard.pull' }, (error, answer) => (error ? reject(error) : resolve(answer.status))),
    );
  } finally {
    client.close();
  }
}

jest.setTimeout(120_000);

describe('a pull worker', () => {
  it('survives a Redis that is killed and started again: not ready meanwhile, back by itself', async () => {
    await using plane = await PullQueue.start({ model });
    const worker = await plane.worker();
    const address = await worker.ready();
    expect((await plane.result(await plane.submit('before'))).outcome).toBe('completed');
    expect(await pullHealth(address)).toBe(SERVING);
    await plane.redis.kill();
    await plane.until('it says that it is not ready', async () => (await pullHealth(address)) === NOT_SERVING);
    await plane.redis.restart();
    await plane.until('it is ready again', async () => (await pullHealth(address)) === SERVING);
    expect((await plane.result(await plane.submit('after'))).outcome).toBe('completed');
  });

  it('survives cut connections while it waits and while it works', async () => {
    await using plane = await PullQueue.start({ model });
    await plane.worker();
    for (const round of [1, 2, 3]) {
      const jobs = await Promise.all(['a', 'b', 'c'].map(text => plane.submit(`${text}${round}`)));
      await plane.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const results = await plane.results(jobs);
      expect(results.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
    }
  });

  it('keeps results while the memory of Redis is full, renews its locks, and delivers when there is room', async () => {
    await using plane = await PullQueue.start({ model: syntheticModel({ steps: 100, baseMs: 1500 }) });
    await plane.worker();
    const job = await plane.submit('kept');
    await plane.until('it is active', () => job.isActive());
    await plane.client.config('SET', 'maxmemory-policy', 'noeviction');
    await plane.client.config('SET', 'maxmemory', '1');
    const starved = plane.submit('never').catch((error: Error) => error.message);
    expect(await starved).toContain('OOM');
    await plane.until('its lock was renewed once', async () => (await plane.client.pttl(plane.lockOf(job))) > 0);
    await plane.client.config('SET', 'maxmemory', '0');
    const result = await plane.result(job);
    expect(result).toMatchObject({ outcome: 'completed', phases: { attempts: 1 } });
  });

  it('survives a failover: its Redis rejects writes and unblocks clients until one accepts writes', async () => {
    await using plane = await PullQueue.start({ model: syntheticModel({ steps: 100, baseMs: 500 }) });
    await plane.worker();
    expect((await plane.result(await plane.submit('before'))).outcome).toBe('completed');
    const job = await plane.submit('while it works');
    await plane.until('it is active', () => job.isActive());
    // A replica of nobody that can be reached: what the old master is once the new one was elected.
    await plane.client.call('REPLICAOF', '127.0.0.1', '1');
    expect(await plane.submit('refused').catch((error: Error) => error.message)).toContain('READONLY');
    // Long enough that the answer is usually computed, and refused, in between.
    await pause(1000);
    await plane.client.call('REPLICAOF', 'NO', 'ONE');
    expect(await plane.result(job)).toMatchObject({ outcome: 'completed' });
    expect((await plane.result(await plane.submit('after'))).outcome).toBe('completed');
  });

  it('survives a Redis that has forgotten its scripts', async () => {
    await using plane = await PullQueue.start({ model });
    await plane.worker();
    expect((await plane.result(await plane.submit('one'))).outcome).toBe('completed');
    await plane.client.script('FLUSH');
    expect((await plane.result(await plane.submit('two'))).outcome).toBe('completed');
  });

  it('answers 40 jobs once each with three workers, one of which is killed', async () => {
    await using plane = await PullQueue.start({ model });
    const [first] = await Promise.all([plane.worker(), plane.worker(), plane.worker()]);
    const jobs = await Promise.all(Array.from({ length: 40 }, (_, i) => plane.submit(`n${i}`)));
    await first.kill();
    const results = await plane.results(jobs);
    expect(results.every(({ outcome }) => outcome === 'completed')).toBe(true);
    expect(await plane.queue.getJobCounts('active', 'prioritized', 'wait')).toEqual({
      active: 0,
      prioritized: 0,
      wait: 0,
    });
  });
});
