import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { CancellationManager } from './cancellation-manager.js';
import { cancelLatency } from './cancellation.metrics.js';
import { StopFailures } from './stop-failures.js';

/** Every way to stop a request, and how long it takes. */
@Module({
  imports: [QueueModule, RegistryModule, WorkerPoolModule],
  providers: [CancellationManager, StopFailures, cancelLatency],
  exports: [CancellationManager, StopFailures],
})
export class CancellationModule {}
