import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { metricFedBy, metricProvider } from '../../platform/metrics/metric-provider.js';
import { DeviceSwaps } from './device-swaps.js';

const loadMetric = metricFedBy(DeviceSwaps);

/** Memory of devices, read at the scrape; and loads of the models that share them. */
export const deviceMetricProviders: Provider[] = [
  metricProvider('switchyard_device_memory_bytes', {
    inject: [DeviceSwaps],
    collect: (gauge: Gauge, swaps: DeviceSwaps) => {
      for (const { id, memory } of swaps.devices()) gauge.set({ device: id }, memory);
    },
  }),
  metricProvider('switchyard_device_memory_used_bytes', {
    inject: [DeviceSwaps],
    collect: (gauge: Gauge, swaps: DeviceSwaps) => {
      for (const { id } of swaps.devices()) gauge.set({ device: id }, swaps.placements.used(id));
    },
  }),
  loadMetric('switchyard_model_loads_total', (loads: Counter, swaps) =>
    swaps.steps$.subscribe(step => {
      if (step.type === 'load') loads.inc({ model: step.model, reason: step.reason });
    }),
  ),
  loadMetric('switchyard_model_load_seconds', (took: Histogram, swaps) =>
    swaps.steps$.subscribe(step => {
      if (step.type === 'loaded') took.observe({ model: step.model }, step.tookMs / 1000);
    }),
  ),
];
