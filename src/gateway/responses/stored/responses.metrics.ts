import { type Gauge } from 'prom-client';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { metricProvider } from '../../../platform/metrics/metric-provider.js';

export const openResponsesMetric = metricProvider('switchyard_background_responses', {
  inject: [ResponseRecordStore],
  async collect(gauge: Gauge, store: ResponseRecordStore) {
    for (const [status, count] of Object.entries(await store.countOpen()))
      gauge.set({ status }, count);
  },
});
