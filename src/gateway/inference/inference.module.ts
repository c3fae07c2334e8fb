import { Module } from '@nestjs/common';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { inferenceMetricProviders } from './inference.metrics.js';
import { InferenceService } from './inference.service.js';

/** The one way of a request from a route to the scheduler and back. */
@Module({
  imports: [SchedulerModule],
  providers: [InferenceService, ...inferenceMetricProviders],
  exports: [InferenceService],
})
export class InferenceModule {}
