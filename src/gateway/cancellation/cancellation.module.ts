import { Module } from '@nestjs/common';
import {
  cancellationMetricProviders,
  CancellationMetrics,
} from './cancellation.metrics.js';

/**
 * How long cancels took to take effect: what can be cancelled is in the registry
 * of the scheduler.
 */
@Module({ providers: [CancellationMetrics, ...cancellationMetricProviders] })
export class CancellationModule {}
