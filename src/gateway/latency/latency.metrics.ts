import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Histogram } from 'prom-client';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

export const latencyMetricProviders: Provider[] = [
  metricProvider('scheduler_grpc_duration_seconds'),
];

/**
 * Durations of calls that workers answered; the wait in the queue is
 * measured in queue.metrics.
 */
@Injectable()
export class LatencyMetrics {
  constructor(
    events: DispatchEventBus,
    @InjectMetric('scheduler_grpc_duration_seconds') private readonly grpc: Histogram,
  ) {
    events.on('settled', ({ status, priority, model, phases: { grpcMs } }) => {
      // A cancelled caller left before the call ended: its time does not show how
      // long calls take.
      if (status !== 'cancelled' && grpcMs !== undefined)
        this.grpc.observe({ priority, model }, grpcMs / 1000);
    });
  }
}
