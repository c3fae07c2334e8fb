import { type AheadCounts } from './decision-log.js';
import { type Quantiles, type WaitForecast } from './wait-forecast.js';

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
