import { type Histogram } from 'prom-client';
import { eventMetric } from '../../platform/metrics/metric-provider.js';

/** How long cancels took to take effect: dequeued, or acknowledged by the worker. */
export const cancelLatency = eventMetric(
  'scheduler_cancel_latency_seconds',
  (metric: Histogram, bus) =>
    bus.on('cancel_signalled', ({ stage, latencyMs }) =>
      metric.observe({ stage }, latencyMs / 1000),
    ),
);
