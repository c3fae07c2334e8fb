import { type ScheduledRequest } from '../request/scheduled-request.js';

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
