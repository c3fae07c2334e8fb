import { type PlacedJob } from '../shared-queue/payload-blobs.js';
import { type JobRef } from '../shared-queue/model-queues.js';
import { type TrackedRequest } from './tracked-request.js';

/** One accepted request of this gateway that waits in the shared queue. */
export interface SharedRequest {
  readonly tracked: TrackedRequest;
  readonly ref: JobRef;
  readonly placed: PlacedJob;
}
