import { Module } from '@nestjs/common';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { AdminQueueController } from './queue.controller.js';
import { AdminRequestsController } from './requests.controller.js';
import { AdminWorkersController } from './workers.controller.js';

/** What an operator may see and do, under `/admin/v1`. */
@Module({
  imports: [SchedulerModule, WorkerPoolModule],
  controllers: [AdminQueueController, AdminRequestsController, AdminWorkersController],
})
export class AdminModule {}
