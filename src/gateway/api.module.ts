import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DependenciesModule } from '../platform/dependencies/dependencies.module.js';
import { StorageModule } from '../platform/storage/storage.module.js';
import { AsyncModule } from './requests/stored-requests.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { SchedulerModule } from './scheduler/scheduler.module.js';
import { TextModule } from './written-form/written-form.module.js';
import { WorkerPoolModule } from './worker-pool/worker-pool.module.js';
import { CancellationsController } from './requests/cancellations.controller.js';
import { EmbeddingsService } from './text/embeddings.service.js';
import { GenerationController } from './text/generation.controller.js';
import { generationMetricProviders } from './text/generation.metrics.js';
import { GenerationService } from './text/generation.service.js';
import { GenerationSessions } from './text/generation-sessions.js';
import { HealthAccess } from './health/health-access.js';
import { HealthController } from './health/health.controller.js';
import { HealthService } from './health/health.service.js';
import { IntakeGate } from './http/intake-gate.js';
import { ModelCatalog } from './models/model-catalog.js';
import { ModelsController } from './models/models.controller.js';
import { OpenAiExceptionFilter } from './http/openai-exception.filter.js';
import { RequestsController } from './requests/requests.controller.js';
import { RootController } from './health/root.controller.js';
import { SpeechController } from './audio/speech.controller.js';
import { speechMetricProviders } from './audio/speech.metrics.js';
import { SpeechService } from './audio/speech.service.js';
import { SpeechSessions } from './audio/speech-sessions.js';
import { StoreProbes } from './health/store-probes.js';
import { TranscriptionsController } from './audio/transcriptions.controller.js';
import { TranscriptService } from './audio/transcription.service.js';
import { TranslationsController } from './audio/translations.controller.js';
import { UploadReader } from './audio/upload-reader.js';

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
