import { type RequestKey } from './request-key.js';
import { type RequestPriority } from './request-priority.js';

/** A promise to the caller that is checked before any work is done (D-26). */
export interface RequestDeadline {
  /** What it is for: the whole answer, or its first output. */
  readonly until: 'answer' | 'first_output';
  /** Milliseconds from the arrival of the request, as its caller set it. */
  readonly withinMs: number;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/** What decides which workers may have the request. */
export type Placement = Pick<ScheduledRequest, 'affinity' | 'avoid' | 'mostTogether' | 'yields'>;

/**
 * One accepted unit of work. Immutable: its RequestRecord and dispatch events hold its
 * state; the gateway keeps beside it what is to be computed.
 */
export interface ScheduledRequest {
  /**
   * The caller's id, unique within its tenant. For display; `key` identifies the request.
   */
  readonly id: string;
  /** Made of `tenant` and `id` (D-31). */
  readonly key: RequestKey;
  /** Canonical model id, never an alias. */
  readonly model: string;
  readonly priority: RequestPriority;
  /** Absent: the default tenant. */
  readonly tenant?: string;
  /** Id of the key that its usage is counted for. */
  readonly keyId?: string;
  /**
   * W3C Trace Context of its caller: passed on to a server that computes
   * it. Absent: none.
   */
  readonly traceparent?: string;
  /** Path of the HTTP route that it came by, for display. Absent: no route. */
  readonly route?: string | undefined;
  /**
   * Requests with the same value prefer the same worker, which may have
   * their prefix cached.
   */
  readonly affinity?: string;
  /** Workers that returned it without an answer: others are preferred. */
  readonly avoid?: readonly string[];
  /**
   * Requests that its worker may have at the same time, this one included (D-38); absent:
   * it is no suspect.
   */
  readonly mostTogether?: number | undefined;
  /**
   * Of a tenant whose input ended an engine lately (D-51): until it has aged, requests of others
   * go first, and it waits for one replica.
   */
  readonly yields?: boolean;
  /**
   * Estimated device milliseconds, above 0: charged to its tenant until the time is
   * measured (D-25).
   */
  readonly costMs: number;
  /**
   * Bytes held while the request waits; counted against the queue's byte bounds (D-08).
   */
  readonly bytes: number;
  /**
   * Monotonic milliseconds; kept across a re-queue, so age and position survive a
   * worker's death (D-06).
   */
  readonly enqueuedAtMs: number;
  /**
   * Monotonic time after which a waiting request fails: `queue_timeout` (D-07), or
   * `deadline_missed` (D-26).
   */
  readonly queueDeadlineMs: number;
  /**
   * Monotonic time; decides its place among the requests of its tenant (D-26). Absent:
   * its age does.
   */
  readonly latestStartMs?: number;
  /**
   * With one, it is never started after `latestStartMs`. Absent: none, or one that only
   * decides the order.
   */
  readonly deadline?: RequestDeadline;
  /** Milliseconds that a worker may work on it before `inference_timeout` (D-07). */
  readonly inferenceTimeoutMs: number;
}
