import { Module } from '@nestjs/common';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { HttpModule } from '../http/http.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { HealthController, RootController } from './health.controller.js';
import { HealthService, StoreProbes } from './health.service.js';

/** `/health`, `/health/ready` and `/`. */
@Module({
  imports: [
    DependenciesModule,
    HttpModule,
    JobsModule,
    ModelsModule,
    SchedulerModule,
    WorkerPoolModule,
  ],
  controllers: [HealthController, RootController],
  providers: [HealthService, StoreProbes],
})
export class HealthModule {}
