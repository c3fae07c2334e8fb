import { Module } from '@nestjs/common';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { OllamaModelsController } from './ollama-models.controller.js';
import { OllamaController } from './ollama.controller.js';

/** Ollama's API, a dialect of chat, completions and embeddings. */
@Module({
  imports: [InferenceModule, ModelsModule, SchedulerModule, TextModule, WorkerPoolModule],
  controllers: [OllamaController, OllamaModelsController],
})
export class OllamaModule {}
