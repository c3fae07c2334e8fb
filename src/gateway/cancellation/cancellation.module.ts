import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { CancellationManager } from './cancellation-manager.js';
import { cancelLatency } from './cancellation.metrics.js';
import { StopErrors } from './stop-errors.js';

/** Every way to stop a request, and how long it takes. */
@Module({
  imports: [QueueModule, RegistryModule, WorkerPoolModule],
  providers: [CancellationManager, StopErrors, cancelLatency],
  exports: [CancellationManager, StopErrors],
})
export class CancellationModule {}
