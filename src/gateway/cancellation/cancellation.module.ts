import { Module } from '@nestjs/common';
import { type Histogram } from 'prom-client';
import { eventMetric } from '../../platform/metrics/metric-provider.js';

/** How long cancels took to take effect: dequeued, or acknowledged by the worker. */
const cancelLatency = eventMetric(
  'scheduler_cancel_latency_seconds',
  (metric: Histogram, bus) =>
    bus.on('cancel_signalled', ({ stage, latencyMs }) =>
      metric.observe({ stage }, latencyMs / 1000),
    ),
);

/**
 * How long cancels took: what can be cancelled is in the registry of the scheduler.
 */
@Module({ providers: [cancelLatency] })
export class CancellationModule {}
