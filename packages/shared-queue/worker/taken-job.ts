import { type JobJson } from 'bullmq';
import { type QueueJob } from '../job.codec.js';

/** A readable job, while this process holds it. */
export interface PulledJob {
  readonly job: TakenJob;
  readonly order: QueueJob;
  /**
   * Aborted once its lock is lost: another worker has it, and results from
   * here are ignored.
   */
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

/**
 * A job of the queue that this worker holds, as BullMQ describes it: only the owner of the
 * token in Redis may finish it. `attemptsStarted` counts this take, `stalledCounter` the
 * workers that lost it: they crashed, or hung for longer than their lock.
 */
export interface TakenJob extends Readonly<JobJson> {
  /** Lock token, of this take only: fences off late results. */
  readonly token: string;
  /** BullMQ's priority; 0: none given. */
  readonly priority: number;
  /** Epoch milliseconds of Redis at which this worker took it. */
  readonly takenMs: number;
}
