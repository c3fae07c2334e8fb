import { randomUUID } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { WindowTimers } from '../../core/batching/window-timers.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { CancellationModule } from '../cancellation/cancellation.module.js';
import { LatencyModule } from '../latency/latency.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { SharedQueueModule } from '../shared-queue/shared-queue.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { DispatchLoop } from './dispatch-loop.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { Forecasts, forecastsProvider } from './forecasts.js';
import { IdleUnload } from './idle-unload.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestFailures } from './request-failures.js';
import { RequestIntake } from './request-intake.js';
import { logRequestEvents } from './request-log.js';
import { RequestQueues } from './request-queues.js';
import { RequestRegistry } from './request-registry.js';
import { RequestReports } from './request-reports.js';
import { schedulerMetricProviders } from './scheduler.metrics.js';
import { SchedulerService } from './scheduler.service.js';
import { ShutdownDrain, ShutdownGrace } from './shutdown-drain.js';
import { Suspects } from './suspects.js';
import { tenantMetricProviders } from './tenant.metrics.js';
import { WorkerCalls } from './worker-calls.js';

const dispatcherProvider = {
  provide: Dispatcher,
  inject: [PriorityQueue, BatchWindow, Admission, WorkerPoolService, Forecasts],
  useFactory: (
    queue: PriorityQueue,
    window: BatchWindow,
    admission: Admission,
    workers: WorkerPoolService,
    forecasts: Forecasts,
  ) =>
    new Dispatcher({
      ...{ queue, window, admission, workers, newGroupId: randomUUID },
      startInMs: (request, nowMs) => forecasts.ofNew(request, nowMs)?.startInMs.p50,
    }),
};

const timersProvider = {
  provide: WindowTimers,
  inject: [ProcessClock],
  useFactory: (clock: ProcessClock) => new WindowTimers(clock),
};

/**
 * Queue → slot → worker → answer. Starts its loop at boot and refuses to boot without it;
 * drains before listeners close.
 */
@Module({
  imports: [QueueModule, CancellationModule, LatencyModule, SharedQueueModule, WorkerPoolModule],
  providers: [
    dispatcherProvider,
    timersProvider,
    forecastsProvider,
    DispatchLoop,
    EmbeddedQueue,
    IdleUnload,
    RequestRegistry,
    RequestCanceller,
    RequestFailures,
    RequestIntake,
    RequestQueues,
    RequestReports,
    SchedulerService,
    ShutdownDrain,
    Suspects,
    ShutdownGrace,
    WorkerCalls,
    ...schedulerMetricProviders,
    ...tenantMetricProviders,
  ],
  exports: [
    SharedQueueModule,
    RequestIntake,
    SchedulerService,
    RequestRegistry,
    ShutdownGrace,
    Forecasts,
    Suspects,
  ],
})
export class SchedulerModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly loop: DispatchLoop,
    private readonly scheduler: SchedulerService,
    events: DispatchEventBus,
  ) {
    logRequestEvents(events);
  }

  /**
   * A scheduler that was built but never started looks healthy until the
   * first request hangs.
   */
  onApplicationBootstrap(): void {
    this.loop.start();
    if (!this.loop.running || this.loop.turns === 0)
      throw new Error('The dispatch loop did not start.');
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.scheduler.drain();
  }
}
