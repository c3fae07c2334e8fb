import { Module } from '@nestjs/common';
import { CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { cancellationMetricProviders, CancellationMetrics } from './cancellation.metrics.js';

/** Requests that can still be cancelled, and where they are. */
@Module({
  providers: [
    { provide: CancellationManager, useFactory: () => new CancellationManager() },
    CancellationMetrics,
    ...cancellationMetricProviders,
  ],
  exports: [CancellationManager],
})
export class CancellationModule {}
