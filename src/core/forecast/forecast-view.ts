import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type AheadCounts } from './decision-log.js';

/**
 * Milliseconds from now. Half of the requests need at most `p50`, nine in ten
 * at most `p90`.
 */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
}

/** When a request probably starts (a worker takes it) and ends (it is answered). */
export interface WaitForecast {
  readonly startInMs: Quantiles;
  readonly endInMs: Quantiles;
  readonly basis: 'simulation' | 'drain_rate';
}

/** What a forecast needs to know of a request that is not queued yet. */
export type ProspectiveRequest = Pick<
  ScheduledRequest,
  'model' | 'priority' | 'tenant' | 'costMs' | 'latestStartMs'
>;

/** Why a request of the embedded queue waits or waited, as data. */
export interface WaitExplanation {
  readonly forecast?: WaitForecast | undefined;
  /** Waiting requests that are sent before it; while it waits. */
  readonly ahead?: AheadCounts;
  /** Requests that were sent while it waited; of a long wait the last 2000. */
  readonly passed: AheadCounts;
  /** Requests that workers of its model have, and their slots. */
  readonly slots: { readonly inUse: number; readonly total: number };
  /** Only those that help. */
  readonly changes: readonly {
    readonly change: 'realtime_priority' | 'one_more_worker';
    readonly startInMs: Quantiles;
  }[];
}
