import { Module } from '@nestjs/common';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { EmbeddingsService } from './embeddings.service.js';
import { GenerationController } from './generation.controller.js';
import { GenerationService } from './generation.service.js';

/** Chat, completions and embeddings. */
@Module({
  imports: [InferenceModule, ModelsModule],
  controllers: [GenerationController],
  providers: [EmbeddingsService, GenerationService],
})
export class TextModule {}
