import { Logger, type Provider } from '@nestjs/common';
import { ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { AllWorkers } from './all-workers.js';
import { GatewayPlaces } from './gateway-places.js';
import { PayloadBlobs } from './payload-blobs.js';
import { QueueEvents } from './queue-events.js';
import { QueueListing } from './queue-listing.js';
import { RequestJobs } from './request-jobs.js';
import { RequestsElsewhere } from './requests-elsewhere.js';
import { SharedDevices } from './shared-devices.js';
import { SharedIntake } from './shared-intake.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { SharedRequestQueue } from './shared-request-queue.js';
import { SharedRequests } from './shared-requests.js';
import { SpeechFeed } from './speech-relay.js';
import { StreamPlaces } from './stream-places.js';
import { TextPlaces } from './text-places.js';

/**
 * The queue that several gateways share. With `queue.driver: embedded` it opens no
 * connection and does nothing.
 */
export const sharedQueueProviders: Provider[] = [
  AllWorkers,
  GatewayPlaces,
  {
    provide: ModelQueues,
    inject: [SharedQueueLink, MODELS, { token: KeyRing, optional: true }],
    useFactory: (link: SharedQueueLink, models: readonly ModelSpec[], keyRing?: KeyRing) =>
      ModelQueues.open(link, {
        models: () => models.map(({ id }) => id),
        weightOf: (tenant = DEFAULT_TENANT) => keyRing?.weightOf(tenant) ?? 1,
        log: new Logger(ModelQueues.name),
      }),
  },
  PayloadBlobs,
  QueueEvents,
  QueueListing,
  RequestJobs,
  RequestsElsewhere,
  SharedDevices,
  SharedIntake,
  SharedQueueLink,
  SharedRequestQueue,
  SharedRequests,
  SpeechFeed,
  StreamPlaces,
  TextPlaces,
];
