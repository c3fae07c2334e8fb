import { Module } from '@nestjs/common';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { LatencySweepTimer } from './latency-sweep.timer.js';
import { latencyMetricProviders, LatencyMetrics } from './latency.metrics.js';

/** Where each request spent its time, phase by phase. */
@Module({
  providers: [
    {
      provide: LatencyTracker,
      inject: [SETTINGS],
      useFactory: ({ latency }: Settings) => new LatencyTracker({ ttlMs: latency.ttlMs }),
    },
    LatencySweepTimer,
    LatencyMetrics,
    ...latencyMetricProviders,
  ],
  exports: [LatencyTracker],
})
export class LatencyModule {}
