import { Module } from '@nestjs/common';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { ShutdownDrain, ShutdownGrace } from './shutdown-drain.js';

/** How the gateway ends. Its order: README.md of this folder. */
@Module({
  imports: [SchedulerModule, WorkerPoolModule],
  providers: [ShutdownDrain, ShutdownGrace],
  exports: [ShutdownGrace],
})
export class LifecycleModule {}
