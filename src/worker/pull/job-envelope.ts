import { type CallEnvelope } from '../../contracts/grpc/call.codec.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { QueueJobClass } from '../../contracts/queue-jobs/queue-keys.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type PulledGroup } from './pulled-job.js';
import { type TakenJob } from './taken-job.js';

interface ReadJob {
  readonly job: TakenJob;
  readonly order: QueueJob;
}

/** What a call carries besides its own fields. The id is that of the job: one tenant's id never meets another's. */
export const envelopeOf = ({ job, order }: ReadJob, group: PulledGroup, mostTogether: number): CallEnvelope => ({
  requestId: job.id,
  priority: isRealtime({ job, order }) ? RequestPriority.REALTIME : RequestPriority.BATCH,
  group: { id: group.id, size: group.size, ...(Number.isFinite(mostTogether) && { mostTogether }) },
});

/** Aged BATCH counts as REALTIME (D-03). A job without a class is what its data say. */
function isRealtime({ job, order }: ReadJob): boolean {
  if (job.priority === QueueJobClass.AGED || job.priority === QueueJobClass.REALTIME) return true;
  return job.priority === 0 && order.priority === 'realtime';
}
