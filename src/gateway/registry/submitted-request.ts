import { type WantedDeadline } from '../../core/queue/latest-start.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type Settlement } from '../../core/request/settlement.js';
import { type WorkerReply, type WorkerTask } from '../../worker-client/worker-task.js';

/**
 * What a caller submits. Its id is from `X-Request-Id` or made by the gateway, and unique
 * among running requests of its tenant.
 */
export interface RequestSpec extends Pick<
  ScheduledRequest,
  'id' | 'model' | 'priority' | 'tenant' | 'keyId' | 'traceparent' | 'route' | 'affinity' | 'bytes'
> {
  /** Seconds; 0 when unknown. Decides the inference deadline (D-07). */
  readonly audioDurationS: number;
  /**
   * Milliseconds a worker may have it, for work whose time does not follow from audio.
   */
  readonly timeoutMs?: number;
  /** Absent or empty: none. */
  readonly deadlines?: readonly WantedDeadline[];
  readonly payload: WorkerTask;
}

/** An end without an answer. */
export type Unanswered = Exclude<Settlement<never>, { status: 'completed' }>;

/** How it ended, and where its time went. */
export interface SettledRequest {
  readonly settlement: Settlement<WorkerReply>;
  readonly phases: LatencyPhases;
  /**
   * Workers it was sent to: 0 when it never left the queue, 2 when its first
   * one was lost.
   */
  readonly attempts: number;
}
