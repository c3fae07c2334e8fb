import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Histogram } from 'prom-client';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

export const cancellationMetricProviders: Provider[] = [
  metricProvider('scheduler_cancel_latency_seconds'),
];

/** How long cancels took to take effect: dequeued, or acknowledged by the worker. */
@Injectable()
export class CancellationMetrics {
  constructor(
    events: DispatchEventBus,
    @InjectMetric('scheduler_cancel_latency_seconds') private readonly latency: Histogram,
  ) {
    events.on('cancel_signalled', ({ stage, latencyMs }) =>
      this.latency.observe({ stage }, latencyMs / 1000),
    );
  }
}
