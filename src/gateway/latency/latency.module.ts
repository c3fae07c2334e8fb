import { Module } from '@nestjs/common';
import { latencyMetricProviders, LatencyMetrics } from './latency.metrics.js';

/** How long workers took: each request's phases are in its record. */
@Module({ providers: [LatencyMetrics, ...latencyMetricProviders] })
export class LatencyModule {}
