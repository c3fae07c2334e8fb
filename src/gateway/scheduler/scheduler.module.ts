import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { CancellationModule } from '../cancellation/cancellation.module.js';
import { LatencyModule } from '../latency/latency.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { DispatchLoop } from './dispatch-loop.js';
import { IdleUnload } from './idle-unload.js';
import { RequestErrors } from './request-errors.js';
import { RequestIntake } from './request-intake.js';
import { logRequestEvents } from './request-log.js';
import { RequestReports } from './request-reports.js';
import { schedulerMetricProviders } from './scheduler.metrics.js';
import { SchedulerService } from './scheduler.service.js';
import { Suspects } from './suspects.js';
import { tenantMetricProviders } from './tenant.metrics.js';
import { WorkerCalls } from './worker-calls.js';

/**
 * Queue → slot → worker → answer. Starts its loop at boot and refuses to boot without it;
 * `LifecycleModule` drains it.
 */
@Module({
  imports: [CancellationModule, LatencyModule, QueueModule, RegistryModule, WorkerPoolModule],
  providers: [
    DispatchLoop,
    IdleUnload,
    RequestErrors,
    RequestIntake,
    RequestReports,
    SchedulerService,
    Suspects,
    WorkerCalls,
    ...schedulerMetricProviders,
    ...tenantMetricProviders,
  ],
  exports: [
    CancellationModule,
    QueueModule,
    RegistryModule,
    DispatchLoop,
    RequestIntake,
    SchedulerService,
    Suspects,
  ],
})
export class SchedulerModule implements OnApplicationBootstrap {
  constructor(
    private readonly loop: DispatchLoop,
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
}
