import { Module } from '@nestjs/common';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { PlaneBlobs } from './payload-blobs.js';
import { PlaneCensus } from './worker-directory.js';
import { PlaneDepths } from './queue-depth.js';
import { PlaneEvents } from './job-events.js';
import { PlaneLink } from './redis-link.js';
import { PlaneListing } from './queue-listing.js';
import { PlaneQueues } from './model-queues.js';
import { PlaneSpeechFeed } from './speech-feed.js';
import { PlaneStops } from './job-cancels.js';
import { PlaneUpkeep } from './maintenance.js';
import { PlaneWatch } from './job-watch.js';
import { RequestPlane } from './shared-queue.service.js';

/** The queue that several gateways share. With `queue.driver: embedded` it opens no connection and does nothing. */
@Module({
  imports: [DependenciesModule, RedisModule, BlobModule],
  providers: [
    PlaneBlobs,
    PlaneCensus,
    PlaneDepths,
    PlaneEvents,
    PlaneLink,
    PlaneListing,
    PlaneQueues,
    PlaneSpeechFeed,
    PlaneStops,
    PlaneUpkeep,
    PlaneWatch,
    RequestPlane,
  ],
  exports: [PlaneDepths, PlaneListing, PlaneSpeechFeed, RequestPlane],
})
export class RequestPlaneModule {}
