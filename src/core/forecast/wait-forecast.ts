import { type RequestKey } from '../request/request-key.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

/** Milliseconds from now. Half of the requests need at most `p50`, nine in ten at most `p90`. */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
}

/**
 * `simulation`: the queue was run forward by its own rules. `drain_rate`: place in the queue ÷ rate at which requests
 * leave it, for queues whose order is decided elsewhere (`queue.driver: redis`).
 */
export type ForecastBasis = 'simulation' | 'drain_rate';

/** When a request probably starts (a worker takes it) and ends (it is answered). */
export interface WaitForecast {
  readonly startInMs: Quantiles;
  readonly endInMs: Quantiles;
  readonly basis: ForecastBasis;
}

/** What a forecast needs to know of a request that is not queued yet. */
export type ProspectiveRequest = Pick<ScheduledRequest, 'model' | 'priority' | 'tenant' | 'costMs' | 'latestStartMs'>;

/**
 * Answers when requests start and end. O(log waiting) per call on a cached run, so it may be asked for every request.
 *
 * For a request that is about to be queued, before `Dispatcher.submit`:
 *
 *     const forecast = forecasts.ofNew(request, nowMs);
 *     if (forecast && forecast.endInMs.p90 > remainingMs) refuse(forecast.endInMs.p50);
 *
 * Undefined means unknown, never "now": no worker of the model is up, or none has answered a request yet. The time at
 * the worker alone is `endInMs.p50 - startInMs.p50`.
 */
export interface ForecastPort {
  ofNew(request: ProspectiveRequest, nowMs: number): WaitForecast | undefined;

  /** Of a request that waits or runs. Undefined: unknown, or it has ended. */
  of(key: RequestKey, nowMs: number): WaitForecast | undefined;
}
