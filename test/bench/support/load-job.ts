import { type Distribution } from './percentiles.js';

/** What the load generator process is asked to do. */
export interface LoadJob {
  readonly port: number;
  /** The whole HTTP request, sent as it is every time. */
  readonly request: Buffer;
  readonly arrivals: LoadArrivals;
  /** Left out of every number below. */
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly seed?: number;
  /** Closed loop: the turn lasts until so many were answered, however long that takes. */
  readonly minAnswers?: number;
  /** Open loop: a caller hangs up after that time. */
  readonly patienceMs?: number;
  /** Other answers than 200, and none at all, are results, too. */
  readonly anyStatus?: boolean;
  /** Response headers that hold a number, to be collected. */
  readonly numericHeaders?: readonly string[];
}

/**
 * `closed`: each of `callers` sends again when answered. `poisson`: at a rate, whatever
 * the answers do.
 */
export type LoadArrivals =
  | { readonly kind: 'closed'; readonly callers: number }
  | { readonly kind: 'poisson'; readonly ratePerS: number };

export interface LoadReport {
  /** Answered 2xx within the measured time, per second. */
  readonly requestsPerS: number;
  /**
   * All answers, also those before and after that time: what a server's CPU time
   * was spent on.
   */
  readonly answers: number;
  /**
   * Milliseconds; in open loop from the instant at which the request was due, so a late
   * generator hides nothing.
   */
  readonly latencyMs: Distribution;
  /** Milliseconds from the same instant to the first bytes of the answer. */
  readonly firstMs: Distribution;
  /**
   * Open loop: how late requests left; large values mean that the generator itself was
   * short of CPU.
   */
  readonly latenessMs: Distribution;
  /** Answers by status; 0: connection broken. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly headers: Readonly<Record<string, Distribution>>;
  /** CPU of the generator in the measured time, 1 = one core. */
  readonly generatorCpu: number;
}
