import { type Lease } from '../shared/lease.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

/** Why a group left its lane when it did. `single`: REALTIME or aged, which skip the window; `pulled`: a worker took it (D-19). */
export type WindowReason = 'full' | 'window' | 'quiet' | 'ahead' | 'single' | 'pulled';

export interface PlannedRequest<Payload = unknown> {
  readonly request: ScheduledRequest<Payload>;
  readonly lease: Lease;
  /** The part of queue wait that was spent with a slot free, waiting for the window to close. */
  readonly batchWaitMs: number;
  /** True when this is a BATCH request chosen as REALTIME because of its age (D-03). */
  readonly aged: boolean;
}

/** A decision as data (D-23): these requests, on this worker, now. Slots are leased already. */
export interface DispatchPlan<Payload = unknown> {
  readonly groupId: string;
  readonly model: string;
  readonly workerId: string;
  readonly reason: WindowReason;
  /** Its member is aged: what the worker is told, so that it keeps the share of the turns, too (D-03). */
  readonly agingShare?: number;
  readonly members: readonly PlannedRequest<Payload>[];
}
