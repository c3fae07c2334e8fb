import { type ExpectedLoad } from '../devices/expected-load.js';
import { type ErrorCode } from '../errors/domain-error.js';
import { type LatencyPhases } from '../request/latency-phases.js';
import { DEFAULT_TENANT, type RequestKey, requestKey } from '../request/request-key.js';
import { type PriorityLabel } from '../request/request-priority.js';
import { type CancelReason, type Settlement } from '../request/settlement.js';
import { type DispatchPlan } from './dispatch-plan.js';

/** One request as an operator sees it. */
export interface RequestView {
  readonly id: string;
  readonly model: string;
  /** Whose it is; absent: there is one tenant only. */
  readonly tenant?: string;
  readonly priority: PriorityLabel;
  readonly state: 'queued' | 'running' | Settlement['status'];
  /** 1-based place in the queue of its model; only while queued. */
  readonly position?: number;
  /** BATCH that has its share of the turns beside REALTIME by age (D-03). */
  readonly aged: boolean;
  /**
   * What a waiting request waits for: its model to be loaded on its `device`, a `worker` of it
   * to come up, a free `slot` on one, its batch `window` to close, or nothing but the loop's
   * next `turn`.
   */
  readonly waitsFor?: 'device' | 'worker' | 'slot' | 'window' | 'turn';
  /** While it waits for its `device`. */
  readonly load?: ExpectedLoad | undefined;
  /** Unix milliseconds of its acceptance. */
  readonly createdAtMs: number;
  /** Path of the HTTP route that it came by, where its gateway knows. */
  readonly route?: string | undefined;
  /** Milliseconds in the queue so far, or in all. */
  readonly waitedMs: number;
  /** The worker that has it, or had it last. */
  readonly workerId?: string;
  readonly attempts: number;
  readonly phases: LatencyPhases;
  /** Why it failed or was cancelled. */
  readonly code?: ErrorCode;
  /**
   * Of its gateway's own requests: what it was sent with, who stopped it, and the size of
   * its engine call.
   */
  readonly group?: {
    readonly id: string;
    readonly size: number;
    readonly reason: DispatchPlan['reason'];
  };
  readonly cancelReason?: CancelReason;
  readonly batchSize?: number;
}

export const keyOf = ({ tenant, id }: Pick<RequestView, 'tenant' | 'id'>): RequestKey =>
  requestKey({ tenant, id });

export const isLive = ({ state }: Pick<RequestView, 'state'>): boolean =>
  state === 'queued' || state === 'running';

/** An absent field means any. */
export interface RequestFilter {
  readonly model?: string;
  readonly tenant?: string;
  readonly priority?: PriorityLabel;
  readonly state?: RequestView['state'];
}

export function matchesFilter(view: RequestView, filter: RequestFilter): boolean {
  const shown = { ...view, tenant: view.tenant ?? DEFAULT_TENANT };
  const fields = Object.entries(filter) as [keyof RequestFilter, string | undefined][];
  return fields.every(([field, wanted]) => wanted === undefined || shown[field] === wanted);
}
