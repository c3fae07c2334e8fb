import { Module } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.js';
import { ADDRESS_RESOLVER, systemResolver } from './address-watch.js';
import {
  generationActivityMetricProviders,
  GenerationActivityMetrics,
  workerPoolMetricProviders,
  WorkerPoolMetrics,
} from './worker-pool.metrics.js';
import { WorkerPoolService } from './worker-pool.service.js';
import { builtWorkerLaunch, WORKER_LAUNCH } from './worker-roster.js';

/** Workers: started, watched, called. Needs the global ConfigModule and ClockModule. Tests override `WORKER_LAUNCH`. */
@Module({
  providers: [
    { provide: WORKER_LAUNCH, useFactory: builtWorkerLaunch, inject: [SETTINGS] },
    { provide: ADDRESS_RESOLVER, useValue: systemResolver },
    WorkerPoolService,
    WorkerPoolMetrics,
    ...workerPoolMetricProviders,
    GenerationActivityMetrics,
    ...generationActivityMetricProviders,
  ],
  exports: [WorkerPoolService],
})
export class WorkerPoolModule {}
