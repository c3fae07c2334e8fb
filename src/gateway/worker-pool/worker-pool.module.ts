import { type DynamicModule, Module } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { type OpenInProcessWorker } from '../../worker-client/in-process-worker.js';
import { workerPoolMetricProviders } from './worker-pool.metrics.js';
import { WorkerPoolService } from './worker-pool.service.js';
import { builtWorkerLaunch, WORKER_LAUNCH } from './worker-roster.js';

/** Injection token of the optional `OpenInProcessWorker`. */
const IN_PROCESS_WORKERS = Symbol('IN_PROCESS_WORKERS');

/**
 * Workers: started, watched, called. Needs the global ConfigModule and ClockModule. Tests
 * override `WORKER_LAUNCH`.
 */
@Module({
  providers: [
    {
      provide: WORKER_LAUNCH,
      useFactory: builtWorkerLaunch,
      inject: [Settings, { token: IN_PROCESS_WORKERS, optional: true }],
    },
    WorkerPoolService,
    ...workerPoolMetricProviders,
  ],
  exports: [WorkerPoolService],
})
export class WorkerPoolModule {}

/**
 * Workers without a process, from the program that knows gateway and engines; without it
 * each has a process.
 */
@Module({})
export class InProcessWorkersModule {
  static forRoot(open?: OpenInProcessWorker): DynamicModule {
    const provider = { provide: IN_PROCESS_WORKERS, useValue: open };
    return {
      module: InProcessWorkersModule,
      global: true,
      providers: [provider],
      exports: [IN_PROCESS_WORKERS],
    };
  }
}
