import { Module } from '@nestjs/common';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { AllWorkers } from './all-workers.js';
import { JobEvents } from './job-events.js';
import { ModelQueues } from './model-queues.js';
import { PayloadBlobs } from './payload-blobs.js';
import { QueueListing } from './queue-listing.js';
import { RequestJobs } from './request-jobs.js';
import { SharedIntake } from './shared-intake.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { SharedRequestQueue } from './shared-request-queue.js';
import { SharedRequests } from './shared-requests.js';
import { SpeechFeed } from './speech-relay.js';

/**
 * The queue that several gateways share. With `queue.driver: embedded` it opens no
 * connection and does nothing.
 */
@Module({
  imports: [DependenciesModule, RedisModule, BlobModule, QueueModule, WorkerPoolModule],
  providers: [
    AllWorkers,
    JobEvents,
    ModelQueues,
    PayloadBlobs,
    QueueListing,
    RequestJobs,
    SharedIntake,
    SharedQueueLink,
    SharedRequestQueue,
    SharedRequests,
    SpeechFeed,
  ],
  exports: [AllWorkers, SharedRequestQueue],
})
export class SharedQueueModule {}
