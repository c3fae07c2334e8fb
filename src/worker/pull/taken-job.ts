import { type MinimalJob } from 'bullmq';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';

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
 * A job of the queue that this worker holds: only the owner of the token in Redis
 * may finish it.
 */
export interface TakenJob {
  readonly id: string;
  /** Lock token: fences off late results. */
  readonly token: string;
  /** The data as stored in Redis. */
  readonly raw: string;
  /** Epoch milliseconds at which it entered the queue. */
  readonly timestamp: number;
  /** BullMQ priority; 0 = none given. */
  readonly priority: number;
  /** Times it was taken, this one included. */
  readonly starts: number;
  /** Workers that lost it: they crashed, or hung for longer than their lock. */
  readonly deaths: number;
  /** Another worker decided that it crashed too often. */
  readonly condemned: boolean;
  /** Epoch milliseconds at which this worker took it. */
  readonly takenMs: number;
  /** The options it was added with. */
  readonly opts: MinimalJob['opts'];
}
