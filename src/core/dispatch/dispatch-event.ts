import { type ErrorCode } from '../shared/domain-error.js';
import { type RequestKey } from '../request/request-key.js';
import { type PriorityLabel } from '../request/request-priority.js';
import { type CancelReason, type SettlementStatus } from '../request/settlement.js';
import { type LatencyPhases } from '../latency/latency-summary.js';
import { type WindowReason } from './dispatch-plan.js';

export { type LatencyPhases };

interface EventBase {
  /** Of the tenant and `requestId`: what listeners keep requests by (D-31). */
  readonly key: RequestKey;
  /** As its caller knows it. */
  readonly requestId: string;
  /** Absent: the default tenant. */
  readonly tenant?: string;
  readonly model: string;
  readonly priority: PriorityLabel;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/** What work is charged by; absent: nothing of the kind, or its engine does not tell. */
export interface WorkUsage {
  /** Read and written. */
  readonly tokens?: number;
  /** Heard or spoken. */
  readonly audioSeconds?: number;
}

/**
 * Everything that happens to a request, in order: accepted → (promoted) → leased → (requeued → leased) → settled.
 * Metrics, logs, latency and the live feed subscribe to these and to nothing else (D-23).
 */
export type DispatchEvent =
  | (EventBase & { readonly type: 'accepted'; readonly bytes: number })
  | (EventBase & { readonly type: 'rejected'; readonly code: ErrorCode })
  | (EventBase & { readonly type: 'promoted'; readonly waitedMs: number })
  | (EventBase & {
      readonly type: 'leased';
      readonly workerId: string;
      readonly groupId: string;
      readonly groupSize: number;
      readonly reason: WindowReason;
      readonly attempt: number;
      readonly queueWaitMs: number;
      readonly batchWaitMs: number;
    })
  | (EventBase & { readonly type: 'requeued'; readonly workerId: string; readonly code: ErrorCode })
  | (EventBase & {
      readonly type: 'cancel_requested';
      readonly stage: 'queued' | 'in_flight';
      readonly reason: CancelReason;
    })
  /** The cancel took effect: dequeued, or acknowledged by the worker (or its 100 ms passed). */
  | (EventBase & {
      readonly type: 'cancel_signalled';
      readonly stage: 'queued' | 'in_flight';
      readonly latencyMs: number;
    })
  | (EventBase & {
      readonly type: 'settled';
      readonly status: SettlementStatus;
      readonly code?: ErrorCode;
      readonly phases: LatencyPhases;
      /** Size of the engine call that computed it; absent unless a worker answered. */
      readonly batchSize?: number;
      /** Names that engine call: equal for all its members. Absent when batchSize is. */
      readonly batchId?: string;
      /** Of completed work only. */
      readonly usage?: WorkUsage;
      readonly attempts: number;
    });

export type DispatchEventType = DispatchEvent['type'];
