import { Module } from '@nestjs/common';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { PayloadBlobs } from './payload-blobs.js';
import { WorkerDirectory } from './worker-directory.js';
import { QueueDepths } from './queue-depth.js';
import { JobEvents } from './job-events.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { QueueListing } from './queue-listing.js';
import { ModelQueues } from './model-queues.js';
import { SpeechFeed } from './speech-feed.js';
import { JobCancels } from './job-cancels.js';
import { SharedQueueMaintenance } from './maintenance.js';
import { JobWatch } from './job-watch.js';
import { SharedQueue } from './shared-queue.service.js';

/** The queue that several gateways share. With `queue.driver: embedded` it opens no connection and does nothing. */
@Module({
  imports: [DependenciesModule, RedisModule, BlobModule],
  providers: [
    PayloadBlobs,
    WorkerDirectory,
    QueueDepths,
    JobEvents,
    SharedQueueLink,
    QueueListing,
    ModelQueues,
    SpeechFeed,
    JobCancels,
    SharedQueueMaintenance,
    JobWatch,
    SharedQueue,
  ],
  exports: [QueueDepths, QueueListing, SpeechFeed, SharedQueue],
})
export class SharedQueueModule {}
