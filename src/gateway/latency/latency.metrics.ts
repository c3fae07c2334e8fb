import { type Histogram } from 'prom-client';
import { eventMetric } from '../../platform/metrics/metric-provider.js';

/** Of calls that workers answered; the wait in the queue is measured in queue.metrics. */
export const callDuration = eventMetric(
  'scheduler_grpc_duration_seconds',
  (metric: Histogram, bus) =>
    bus.on('settled', ({ status, priority, model, phases: { grpcMs } }) => {
      // A cancelled caller left before the call ended: its time does not show how
      // long calls take.
      if (status !== 'cancelled' && grpcMs !== undefined)
        metric.observe({ priority, model }, grpcMs / 1000);
    }),
);
