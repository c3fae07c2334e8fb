import { type ErrorCode } from '../errors/domain-error.js';
import { type LatencyPhases } from '../request/latency-phases.js';
import { type RequestKey } from '../request/request-key.js';
import { type PriorityLabel } from '../request/request-priority.js';
import { type CancelReason, type Settlement } from '../request/settlement.js';
import { type DispatchPlan } from './dispatch-plan.js';

interface EventBase {
  /** Made of the tenant and `requestId`: the key for listeners (D-31). */
  readonly key: RequestKey;
  /** The caller's id. */
  readonly requestId: string;
  /** Absent: the default tenant. */
  readonly tenant?: string;
  /** Id of the key that usage is counted for; absent: none. */
  readonly keyId?: string;
  readonly model: string;
  readonly priority: PriorityLabel;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/** Units that work is charged by; absent: none, or not reported by the engine. */
export interface WorkUsage {
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of text to synthesize. */
  readonly characters?: number;
  /** Recognized or synthesized. */
  readonly audioSeconds?: number;
}

/**
 * Everything that happens to a request, in order: accepted → (promoted) → leased →
 * (requeued → leased) → settled → (withdrawn); `reprioritized` at any time while it waits. Metrics,
 * logs, latency and the live feed subscribe to these and to nothing else (D-23).
 */
export type DispatchEvent =
  | (EventBase & {
      readonly type: 'accepted';
      readonly bytes: number;
      /** W3C Trace Context of its caller; absent: none. */
      readonly traceparent?: string;
    })
  | (EventBase & { readonly type: 'rejected'; readonly code: ErrorCode })
  | (EventBase & { readonly type: 'promoted'; readonly waitedMs: number })
  | (EventBase & {
      readonly type: 'leased';
      readonly workerId: string;
      readonly groupId: string;
      readonly groupSize: number;
      readonly reason: DispatchPlan['reason'];
      readonly attempt: number;
      readonly queueWaitMs: number;
      readonly batchWaitMs: number;
    })
  | (EventBase & {
      readonly type: 'requeued';
      readonly workerId: string;
      readonly code: ErrorCode;
    })
  /** An operator gave it another priority while it waited; `priority` is the new one. */
  | (EventBase & { readonly type: 'reprioritized'; readonly from: PriorityLabel })
  | (EventBase & {
      readonly type: 'cancel_requested';
      readonly stage: 'queued' | 'in_flight';
      readonly reason: CancelReason;
    })
  /**
   * The cancel took effect: dequeued, or acknowledged by the worker (or its
   * 100 ms passed).
   */
  | (EventBase & {
      readonly type: 'cancel_signalled';
      readonly stage: 'queued' | 'in_flight';
      readonly latencyMs: number;
    })
  | (EventBase & {
      readonly type: 'settled';
      readonly status: Settlement['status'];
      readonly code?: ErrorCode;
      readonly phases: LatencyPhases;
      /** Size of the engine call that computed it; absent unless a worker answered. */
      readonly batchSize?: number;
      /** Id of that engine call, shared by all its members. */
      readonly batchId?: string;
      /**
       * Device milliseconds of this request: its share of that engine call; absent: the
       * worker reports none.
       */
      readonly deviceMs?: number;
      /**
       * Of a completed request with a deadline: whether its answer, or its first output,
       * came in time (D-26).
       */
      readonly metDeadline?: boolean;
      /** Of speech: seconds for which its listener waited in the middle of it. */
      readonly lateS?: number;
      /** Milliseconds from its acceptance to its first output; only of a streamed answer. */
      readonly firstOutputMs?: number | undefined;
      /** For completed requests only. */
      readonly usage?: WorkUsage;
      readonly attempts: number;
    })
  /**
   * It was settled as completed, but a cancel came before its stored answer counted: it
   * ended as cancelled. Only `scheduler_requests_total`, the log and the live feed follow;
   * usage, device time, latencies, forecasts and the counts of tenants are about what was
   * computed, and that was.
   */
  | (EventBase & { readonly type: 'withdrawn' });

export type EventOf<T extends DispatchEvent['type']> = Extract<DispatchEvent, { readonly type: T }>;
