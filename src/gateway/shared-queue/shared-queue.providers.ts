import { type Provider } from '@nestjs/common';
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
export const sharedQueueProviders: Provider[] = [
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
];
