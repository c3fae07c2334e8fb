import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { StorageModule } from '../../platform/storage/storage.module.js';
import { AsyncModule } from '../async/async.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { CancellationsController } from './cancellations.controller.js';
import { EmbeddingsService } from './embeddings.service.js';
import { GenerationController } from './generation.controller.js';
import { generationMetricProviders } from './generation.metrics.js';
import { GenerationService } from './generation.service.js';
import { GenerationSessions } from './generation-sessions.js';
import { HealthAccess } from './health-access.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { IntakeGate } from './intake-gate.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';
import { OpenAiExceptionFilter } from './openai-exception.filter.js';
import { RequestsController } from './requests.controller.js';
import { RootController } from './root.controller.js';
import { SpeechController } from './speech.controller.js';
import { speechMetricProviders } from './speech.metrics.js';
import { SpeechService } from './speech.service.js';
import { SpeechSessions } from './speech-sessions.js';
import { StoreProbes } from './store-probes.js';
import { TranscriptionsController } from './transcriptions.controller.js';
import { TranscriptService } from './transcript.service.js';
import { TranslationsController } from './translations.controller.js';
import { UploadReader } from './upload-reader.js';

/** The HTTP face. It validates, resolves names and writes answers; the scheduler decides everything else. */
@Module({
  imports: [AsyncModule, DependenciesModule, JobsModule, StorageModule, SchedulerModule, TextModule, WorkerPoolModule],
  controllers: [
    TranscriptionsController,
    TranslationsController,
    SpeechController,
    GenerationController,
    CancellationsController,
    RequestsController,
    ModelsController,
    HealthController,
    RootController,
  ],
  providers: [
    EmbeddingsService,
    GenerationService,
    GenerationSessions,
    HealthAccess,
    HealthService,
    IntakeGate,
    ModelCatalog,
    SpeechService,
    SpeechSessions,
    StoreProbes,
    TranscriptService,
    UploadReader,
    ...generationMetricProviders,
    ...speechMetricProviders,
    { provide: APP_FILTER, useClass: OpenAiExceptionFilter },
  ],
  exports: [IntakeGate, ModelCatalog, SpeechSessions],
})
export class ApiModule {}
