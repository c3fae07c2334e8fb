import { afterEach, expect, it } from '@jest/globals';
import { describeWith, REDIS } from '../../support/requires.js';
import { wrongClock } from '../../support/wrong-clock.js';
import { TwoGateways } from './two-gateways.js';

const [HOUR_MS, SOON_MS] = [3_600_000, 60_000];

describeWith(REDIS)('a gateway whose clock is wrong', () => {
  let pair: TwoGateways | undefined;
  afterEach(() => pair?.[Symbol.asyncDispose]());

  it.each([HOUR_MS, -HOUR_MS])('by %i ms queues and lists as the others do', async aheadMs => {
    pair = await TwoGateways.start({}, wrongClock(aheadMs));
    const answer = pair.transcribe(pair.a, 'r1');
    await pair.waiting(1);
    const redisMs = Number((await pair.client.time())[0]) * 1000;
    const listed = await Promise.all(
      [pair.a, pair.b].map(gateway => pair!.get(gateway, '/admin/v1/requests')),
    );
    for (const { body } of listed) {
      const [request] = body.data as { waited_ms: number; created_at: number }[];
      expect(request!.waited_ms).toBeLessThan(SOON_MS);
      expect(Math.abs(request!.created_at * 1000 - redisMs)).toBeLessThan(SOON_MS);
    }
    const held = await pair.puller.take();
    const { acceptedMs, deadlineMs = 0 } = held.data;
    expect(Math.abs(acceptedMs - redisMs)).toBeLessThan(SOON_MS);
    expect(deadlineMs).toBeGreaterThan(redisMs);
    await held.complete();
    expect((await answer).status).toBe(200);
  });
});
