import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { fedMetric, metricProvider } from '../../platform/metrics/metric-provider.js';
import { DeviceSwaps } from './device-swaps.js';

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
  fedMetric('switchyard_model_loads_total', [DeviceSwaps], (loads: Counter, swaps: DeviceSwaps) =>
    swaps.steps$.subscribe(step => {
      if (step.type === 'load') loads.inc({ model: step.model, reason: step.reason });
    }),
  ),
  fedMetric('switchyard_model_load_seconds', [DeviceSwaps], (took: Histogram, swaps: DeviceSwaps) =>
    swaps.steps$.subscribe(step => {
      if (step.type === 'loaded') took.observe({ model: step.model }, step.tookMs / 1000);
    }),
  ),
];
