import { type WantedDeadline } from '../../core/queue/latest-start.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type Settlement } from '../../core/request/settlement.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';

/** What a caller submits. */
export interface RequestSpec {
  /**
   * Unique among running requests of its tenant; from `X-Request-Id` or made
   * by the gateway.
   */
  readonly id: string;
  /** Canonical model id, never an alias. */
  readonly model: string;
  readonly priority: RequestPriority;
  /** Whose it is; absent: there is one tenant only. */
  readonly tenant?: string;
  /** Id of the key that its usage is counted for; absent: none. */
  readonly keyId?: string;
  /** Of the HTTP exchange it came with; absent: none. */
  readonly traceparent?: string;
  /** Requests with the same one are best sent to the same worker; absent: any will do. */
  readonly affinity?: string;
  /** Bytes held while it waits, for the queue's byte bounds. */
  readonly bytes: number;
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
