import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { pause, until } from '../../../test/support/waiting.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { RedisLink } from '../../platform/redis/redis.module.js';
import { type DeviceSwaps } from '../devices/device-swaps.js';
import { type AllWorkers } from './all-workers.js';
import { QueueListing } from './queue-listing.js';
import { SharedQueueLink } from './shared-queue-link.js';

const MODEL = syntheticModel({}, { id: 'ears' });

describeWith(REDIS)('the list of the shared queue', () => {
  let server: RedisServer;
  let redis: RedisLink;
  let link: SharedQueueLink;
  let listing: QueueListing;
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeEach(async () => {
    server = await RedisServer.start();
    const settings = settingsFrom({ 'queue.driver': 'redis', 'redis.url': server.url });
    redis = new RedisLink(settings, Redis);
    link = new SharedQueueLink(redis, new DependencyMonitor(), settings);
    const models = () => [MODEL.id];
    const log = { debug: () => undefined };
    const queues = await ModelQueues.open(link, { models, weightOf: () => 1, log });
    const workers = { hasPulling: () => false, hasPushed: () => false };
    const swaps = { isAway: () => false } as unknown as DeviceSwaps;
    listing = new QueueListing(link, queues, workers as unknown as AllWorkers, [MODEL], swaps);
    await until(() => link.usable);
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    process.off('unhandledRejection', note);
    redis.onApplicationShutdown();
    await server[Symbol.asyncDispose]();
  });

  it('is refused as a whole when Redis goes away while it is read', async () => {
    expect(await listing.live()).toEqual([]);
    link.redis.stream.destroy();
    await expect(listing.live()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await pause(20);
    expect(unhandled).toEqual([]);
  });
});

describe('the depth of a shared queue', () => {
  it.each([
    [900, Infinity, 100],
    [900, 400, 600],
    [Infinity, Infinity, undefined],
  ])('with requests since %d and %d has waited %d ms at 1000', async (realtime, batch, waitMs) => {
    const counts = { realtime: 1, batch: 2, oldestRealtimeMs: realtime, oldestBatchMs: batch };
    const listing = new QueueListing(
      ...([
        { clock: { nowMs: () => 1000 } },
        { counts: () => Promise.resolve(counts) },
        {},
        [MODEL],
      ] as unknown as ConstructorParameters<typeof QueueListing>),
    );
    expect(await listing.depths()).toEqual([
      { model: MODEL.id, realtime: 1, batch: 2, oldestWaitMs: waitMs },
    ]);
  });
});
