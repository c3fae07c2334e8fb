import { type CallEnvelope, type CallExecution } from '../../contracts/grpc/call.codec.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { type JobValue } from '../../contracts/queue-jobs/job-result.js';

export interface JobAnswer {
  readonly value: JobValue;
  readonly execution: CallExecution;
}

/** A job on its way through the same stages as a call that was sent: one implementation per kind of engine. */
export interface PlaneWork {
  /**
   * @param envelope id, priority and group as a call would carry them
   * @throws DomainError the job's own failure, or the abort's error once the work is let go
   */
  perform(job: QueueJob, envelope: CallEnvelope, signal: AbortSignal): Promise<JobAnswer>;
}

/** Injection token of the `PlaneWork` of this process. */
export const PLANE_WORK = Symbol('PLANE_WORK');
