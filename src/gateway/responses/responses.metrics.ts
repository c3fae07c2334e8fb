import { Injectable, type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { counterMetric, metricProvider } from '../../platform/metrics/metric-provider.js';
import { ResponseRecordStore } from '../../platform/database/response-store.js';

/** Counts what happens to stored and background responses at this gateway. */
@Injectable()
export class ResponseMetrics {
  readonly #runs = counterMetric('switchyard_background_response_runs_total');
  readonly #removed = counterMetric('switchyard_responses_expired_total');

  begun(isResumed: boolean): void {
    this.#runs.inc({ kind: isResumed ? 'resumed' : 'first' });
  }

  expired(count: number): void {
    this.#removed.inc(count);
  }
}

export const RESPONSE_METRICS: Provider[] = [
  ResponseMetrics,
  metricProvider('switchyard_background_responses', {
    inject: [ResponseRecordStore],
    collect: readOpen,
  }),
];

async function readOpen(gauge: Gauge, store: ResponseRecordStore): Promise<void> {
  for (const [status, count] of Object.entries(await store.countOpen()))
    gauge.set({ status }, count);
}
