import { type RequestKey } from './request-key.js';
import { type RequestPriority } from './request-priority.js';

/**
 * One accepted unit of work. Immutable: what happens to it is told by its RequestLifecycle and by dispatch events.
 * `Payload` is opaque to the core; the gateway keeps audio and options there.
 */
export interface ScheduledRequest<Payload = unknown> {
  /** As its caller knows it: unique within its tenant only. For display; `key` identifies it. */
  readonly id: string;
  /** Of `tenant` and `id` (D-31). */
  readonly key: RequestKey;
  /** Canonical model id, never an alias. */
  readonly model: string;
  readonly priority: RequestPriority;
  /** Whose it is; absent: there is one tenant only. */
  readonly tenant?: string;
  /** Requests with the same one are best sent to the same worker, which may know how they begin; absent: any will do. */
  readonly affinity?: string;
  /** Workers that gave it back without an answer: it goes to another one while another one serves. */
  readonly avoid?: readonly string[];
  /** Bytes held while the request waits; counted against the queue's byte bounds (D-08). */
  readonly bytes: number;
  /** Monotonic milliseconds; kept across a re-queue, so age and place survive a worker's death (D-06). */
  readonly enqueuedAtMs: number;
  /** Monotonic instant after which a request that still waits fails with `queue_timeout` (D-07). */
  readonly queueDeadlineMs: number;
  /** Milliseconds the worker may have it before `inference_timeout` (D-07). */
  readonly inferenceTimeoutMs: number;
  readonly payload: Payload;
}
