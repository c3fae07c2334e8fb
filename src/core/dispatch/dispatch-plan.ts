import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type Lease } from './lease.js';

/**
 * A decision as data (D-23): these requests, on this worker, now. Slots
 * are leased already.
 */
export interface DispatchPlan {
  readonly groupId: string;
  readonly model: string;
  readonly workerId: string;
  /**
   * Why the group left its lane. `single`: REALTIME or aged, which skip the window;
   * `pulled`: a worker fetched it (D-19).
   */
  readonly reason: 'full' | 'window' | 'quiet' | 'ahead' | 'single' | 'pulled';
  /** Set for an aged member: the worker applies the same share (D-03). */
  readonly agingShare?: number;
  readonly members: readonly {
    readonly request: ScheduledRequest;
    readonly lease: Lease;
    /** The part of the queue wait in which a slot was free and only the window was open. */
    readonly batchWaitMs: number;
    /** BATCH that was chosen like REALTIME because of its age (D-03). */
    readonly aged: boolean;
  }[];
}
