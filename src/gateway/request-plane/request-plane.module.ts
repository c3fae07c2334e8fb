import { Module } from '@nestjs/common';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { PlaneBlobs } from './plane-blobs.js';
import { PlaneCensus } from './plane-census.js';
import { PlaneDepths } from './plane-depth.js';
import { PlaneEvents } from './plane-events.js';
import { PlaneLink } from './plane-link.js';
import { PlaneListing } from './plane-listing.js';
import { PlaneQueues } from './plane-queues.js';
import { PlaneSpeechFeed } from './plane-speech-feed.js';
import { PlaneStops } from './plane-stops.js';
import { PlaneUpkeep } from './plane-upkeep.js';
import { PlaneWatch } from './plane-watch.js';
import { RequestPlane } from './request-plane.service.js';

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
