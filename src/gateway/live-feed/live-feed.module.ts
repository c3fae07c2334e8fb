import { Module } from '@nestjs/common';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { LiveBatches } from './live-batches.js';
import { LiveFeedGateway } from './live-feed.gateway.js';
import { LiveFeed } from './live-feed.js';
import { LiveReplicas } from './live-replicas.js';
import { LiveSource } from './live-source.js';
import { PollingController } from './polling.controller.js';

/**
 * The live feed over Socket.IO. Needs the global Auth-, Events-, Config- and ClockModule.
 */
@Module({
  imports: [SchedulerModule, WorkerPoolModule, RedisModule],
  controllers: [PollingController],
  providers: [LiveBatches, LiveSource, LiveFeed, LiveReplicas, LiveFeedGateway],
})
export class LiveFeedModule {}
