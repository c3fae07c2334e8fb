import { Module } from '@nestjs/common';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { CompletionsController } from './completions.controller.js';
import { RerankController } from './rerank.controller.js';
import { TextGenerationService } from './text-generation.service.js';
import { TokensController } from './tokens.controller.js';

/** Chat, completions and embeddings. */
@Module({
  imports: [InferenceModule, ModelsModule],
  controllers: [CompletionsController, RerankController, TokensController],
  providers: [TextGenerationService],
  exports: [TextGenerationService],
})
export class TextModule {}
