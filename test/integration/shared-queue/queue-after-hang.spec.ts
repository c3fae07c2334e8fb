import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { SharedQueueLink } from '../../../src/gateway/shared-queue/shared-queue-link.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

describeWith(REDIS)('the queue of a model that is first used while Redis hangs', () => {
  let redis: RedisServer;
  let rig: GatewayRig;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const settings = { 'queue.driver': 'redis', 'redis.url': redis.url } as const;
    rig = await GatewayRig.start({ models: [sttModel()], settings });
  });
  afterAll(async () => {
    redis.resume();
    await rig.close();
    await redis[Symbol.asyncDispose]();
  });

  it('works once Redis is back', async () => {
    const queues = rig.app.get(ModelQueues, { strict: false });
    const ref = queues.ref('stt', { id: 'r1', tenant: undefined });
    const { redis: client } = rig.app.get(SharedQueueLink, { strict: false });
    await until(() => client.status === 'ready');
    redis.pause();
    await expect(queues.remove(ref)).rejects.toMatchObject({ code: 'queue_unavailable' });
    redis.resume();
    await until(() => client.status === 'ready');
    await expect(queues.remove(ref)).resolves.toBe(true);
  });
});
