import { Module } from '@nestjs/common';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';

/** Names, aliases and abilities of the served models, and `/v1/models`. */
@Module({
  imports: [SchedulerModule],
  controllers: [ModelsController],
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
