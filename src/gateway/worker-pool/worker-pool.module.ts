import { type DynamicModule, Module } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.js';
import { ADDRESS_RESOLVER, systemResolver } from './address-watch.js';
import { INNER_WORKERS, type OpenInnerWorker } from './inner-worker.js';
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
    {
      provide: WORKER_LAUNCH,
      useFactory: builtWorkerLaunch,
      inject: [SETTINGS, { token: INNER_WORKERS, optional: true }],
    },
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

/** Workers without a process, from the program that knows gateway and engines; without it each has a process. */
@Module({})
export class InnerWorkersModule {
  static forRoot(open?: OpenInnerWorker): DynamicModule {
    const provider = { provide: INNER_WORKERS, useValue: open };
    return { module: InnerWorkersModule, global: true, providers: [provider], exports: [INNER_WORKERS] };
  }
}
