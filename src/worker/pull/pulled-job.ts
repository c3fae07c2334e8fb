import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { type TakenJob } from './taken-job.js';

/** A job that could be read, while this process has it. */
export interface PulledJob {
  readonly job: TakenJob;
  readonly order: QueueJob;
  /** Aborted once its lock is lost: another worker has it, and nothing said about it here counts. */
  readonly gone: AbortController;
  /** Ends the renewal of its lock. */
  readonly lock: Disposable;
}

/** The group it was collected with. */
export interface PulledGroup {
  readonly id: string;
  readonly size: number;
  /** Milliseconds from its first member to its close. */
  readonly waitedMs: number;
}
