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

/** What other gateways have of a model whose order they share (D-58). */
export interface Elsewhere {
  /** Requests that wait, by class. */
  readonly realtime: number;
  readonly batch: number;
  readonly running: number;
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

/** Why a request waits or waited, as data; what only its own gateway knows is absent elsewhere. */
export interface WaitExplanation {
  /** Waiting requests that are sent before it, of all gateways; while it waits. */
  readonly ahead?: AheadCounts | undefined;
  /** Requests that its gateway sent while it waited; of a long wait the last 2000. */
  readonly passed?: AheadCounts;
  /** Requests that workers of its model have, and their slots. */
  readonly slots?: { readonly inUse: number; readonly total: number };
  /** Changes that would let it start clearly sooner. */
  readonly changes?: readonly {
    readonly change: 'realtime_priority' | 'one_more_worker';
    readonly startInMs: Quantiles;
  }[];
}
