import { Module } from '@nestjs/common';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { ModelsModule } from '../models/models.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { AdminCatalogueController } from './catalogue.controller.js';
import { AdminDependenciesController } from './dependencies.controller.js';
import { AdminDevicesController } from './devices.controller.js';
import { ModelAdditions } from './model-additions.js';
import { ModelSwitch } from './model-switch.js';
import { AdminModelsController } from './models.controller.js';
import { AdminQueueController } from './queue.controller.js';
import { AdminRequestsController } from './requests.controller.js';
import { AdminWorkersController } from './workers.controller.js';

/** What an operator may see and do, under `/admin/v1`. */
@Module({
  imports: [DependenciesModule, ModelsModule, RequestsModule, SchedulerModule, WorkerPoolModule],
  controllers: [
    AdminCatalogueController,
    AdminDependenciesController,
    AdminDevicesController,
    AdminModelsController,
    AdminQueueController,
    AdminRequestsController,
    AdminWorkersController,
  ],
  providers: [ModelAdditions, ModelSwitch],
})
export class AdminModule {}
