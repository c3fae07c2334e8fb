import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { EmbeddingsService } from './embeddings.service.js';
import { GenerationController } from './generation.controller.js';
import { generationMetricProviders } from './generation.metrics.js';
import { GenerationService } from './generation.service.js';
import { GenerationSessions } from './generation-sessions.js';

/** Chat, completions and embeddings. */
@Module({
  imports: [ModelsModule, SchedulerModule],
  controllers: [GenerationController],
  providers: [EmbeddingsService, GenerationService, GenerationSessions, ...generationMetricProviders],
})
export class TextModule {}
