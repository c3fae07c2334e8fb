import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeWith, REDIS } from '../../support/requires.js';
import { wrongClock } from '../../support/wrong-clock.js';
import { PullQueue } from './pull-harness.js';

const [HOUR_MS, SOON_MS] = [3_600_000, 60_000];

describeWith(REDIS)('a worker whose clock is wrong', () => {
  let line: PullQueue;
  beforeEach(async () => void (line = await PullQueue.start()));
  afterEach(() => line[Symbol.asyncDispose]());

  const redisMs = async (): Promise<number> => Number((await line.client.time())[0]) * 1000;

  it('by an hour ahead computes what still has a minute, and removes no fresh results', async () => {
    const first = await line.worker();
    const earlier = await line.submit('earlier');
    await line.result(earlier);
    await first.kill();

    await line.worker({}, wrongClock(HOUR_MS));
    const deadlineMs = (await redisMs()) + SOON_MS;
    const job = await line.submit('now', { fields: { deadlineMs } });
    const result = await line.result(job);
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(Math.abs(result.phases.takenMs - (await redisMs()))).toBeLessThan(SOON_MS);
    expect((await line.queue.getJob(earlier.id!))?.finishedOn).toBeDefined();
    const ended = await line.client.zscore(`test:${line.queue.name}:completed`, job.id!);
    expect(Math.abs(Number(ended) - (await redisMs()))).toBeLessThan(SOON_MS);
  });

  it('by an hour behind leaves what is too late, and is known by its heartbeat', async () => {
    await line.worker({}, wrongClock(-HOUR_MS));
    const deadlineMs = (await redisMs()) - SOON_MS;
    const job = await line.submit('late', { fields: { deadlineMs } });
    expect(await line.result(job)).toMatchObject({ error: { code: 'queue_timeout' } });
    const [, heardMs] = await line.client.zrange(line.keys.workers, 0, '-1', 'WITHSCORES');
    expect(Math.abs(Number(heardMs) - (await redisMs()))).toBeLessThan(SOON_MS);
  });
});
