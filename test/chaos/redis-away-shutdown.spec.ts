import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { Product } from '../support/product.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { pause } from '../support/waiting.js';

/** A machine that goes down takes Redis and the gateway with it, in any order. */
describeWith(REDIS)('SIGTERM to a gateway whose queue is in Redis', () => {
  // Between two attempts to reach it, while one is made, and when it has long been away.
  it.each([0, 100, 1000])(
    'ends it although Redis has been gone for %d ms',
    async goneMs => {
      await using redis = await RedisServer.start();
      const settings = { 'queue.driver': 'redis', 'redis.url': redis.url } as const;
      await using product = await Product.start(
        [syntheticModel({ baseMs: 5, maxBatch: 2 })],
        settings,
      );
      const { child } = product.gateway.process;
      const ended = once(child, 'exit');
      await redis.kill();
      await pause(goneMs);
      child.kill('SIGTERM');
      const [code, signal] = (await Promise.race([
        ended,
        pause(14_000).then(() => ['still here', null]),
      ])) as unknown[];
      expect([code, signal]).toEqual([0, null]);
    },
    40_000,
  );
});
