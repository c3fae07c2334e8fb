import { Module } from '@nestjs/common';
import { cancelLatency } from './cancellation.metrics.js';

/**
 * How long cancels took: what can be cancelled is in the registry of the scheduler.
 */
@Module({ providers: [cancelLatency] })
export class CancellationModule {}
