import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { type Logger } from 'pino';
import { BlobStore } from '../core/jobs/job.ports.js';
import { ClockModule } from '../platform/clock/clock.module.js';
import { WorkerSpec } from '../platform/config/worker-spec.js';
import { blobStoreFrom } from '../platform/storage/blob.module.js';
import { AudioDownload } from './audio/audio-download.js';
import { ENGINE, type WorkerEngine } from './engines/worker-engine.js';
import { BatchJournal } from './execution/batch-journal.js';
import { LongTranscriptionService } from './execution/long-transcription.service.js';
import { SynthesisService } from './execution/synthesis.service.js';
import { RecognitionService } from './execution/recognition.service.js';
import { EmbeddingService } from './execution/embedding.service.js';
import { GenerationService } from './generation/generation.service.js';
import { EmbeddingController } from './grpc/embedding.controller.js';
import { GenerationController } from './grpc/generation.controller.js';
import { HealthReporter } from './execution/health-reporter.js';
import { HealthCheckController } from './grpc/health.controller.js';
import { InFlightCalls } from './lifecycle/in-flight-calls.js';
import { StreamService } from './grpc/stream.service.js';
import { SttController } from './grpc/stt.controller.js';
import { TtsController } from './grpc/tts.controller.js';
import { UploadService } from './grpc/upload.service.js';
import { WorkerDrain } from './lifecycle/worker-drain.js';
import { WORKER_LOG } from './lifecycle/worker-log.js';
import { PullReadiness, WorkerState } from './lifecycle/worker-state.js';
import { Announcer } from './pull/announcer.js';
import { Callbacks } from './pull/callbacks.js';
import { CrashMarkers } from './pull/crash-markers.js';
import { HeldJobs } from './pull/held-jobs.js';
import { JobRunner } from './pull/job-runner.js';
import { JobWork } from './pull/job-work.js';
import { LockKeeper } from './pull/lock-keeper.js';
import { PullConnections } from './pull/pull-connections.js';
import { PullFeed } from './pull/pull-feed.js';
import { PullLoop } from './pull/pull-loop.js';
import { PullWorker } from './pull/pull-worker.js';
import { RecognitionWork } from './pull/recognition-work.js';
import { RequestQueue } from './pull/request-queue.js';
import { ResultDelivery } from './pull/result-delivery.js';
import { EmbeddingWork, SpeechWork } from './pull/speech-work.js';
import { StopListener } from './pull/stop-listener.js';

const EVERY_WORKER: Provider[] = [
  WorkerState,
  PullReadiness,
  WorkerDrain,
  {
    provide: BatchJournal,
    inject: [WORKER_LOG, { token: CrashMarkers, optional: true }],
    useFactory: (log: Logger, markers?: CrashMarkers) => new BatchJournal(log, markers),
  },
  InFlightCalls,
  HealthReporter,
];

/** One engine, one model, one device: only the service of its kind is there. */
@Module({})
export class WorkerModule {
  /** @param parts `replaced`: in place of providers of the same name */
  static forEngine({
    spec,
    engine,
    log,
    replaced = [],
  }: {
    readonly spec: WorkerSpec;
    readonly engine: Pick<WorkerEngine, 'kind'>;
    readonly log: Logger;
    readonly replaced?: readonly Provider[];
  }): DynamicModule {
    const kind = KINDS[engine.kind];
    return {
      module: WorkerModule,
      imports: [ClockModule],
      controllers: [HealthCheckController, ...kind.controllers],
      providers: [
        { provide: WorkerSpec, useValue: spec },
        { provide: ENGINE, useValue: engine },
        { provide: WORKER_LOG, useValue: log },
        ...EVERY_WORKER,
        ...kind.providers,
        ...(spec.sharedQueue ? pullProviders(spec, kind.pull) : []),
        ...replaced,
      ],
    };
  }
}

const KINDS = {
  stt: {
    controllers: [SttController],
    providers: [
      AudioDownload,
      RecognitionService,
      LongTranscriptionService,
      UploadService,
      StreamService,
    ],
    pull: [{ provide: JobWork, useClass: RecognitionWork }],
  },
  tts: {
    controllers: [TtsController],
    providers: [SynthesisService],
    pull: [{ provide: JobWork, useClass: SpeechWork }],
  },
  // Generations are pushed always.
  llm: { controllers: [GenerationController], providers: [GenerationService], pull: [] },
  embedding: {
    controllers: [EmbeddingController],
    providers: [EmbeddingService],
    pull: [{ provide: JobWork, useClass: EmbeddingWork }],
  },
};

/** Of a worker that pulls, besides those of every worker of its kind. */
const pullProviders = (spec: WorkerSpec, work: Provider[]): Provider[] =>
  work.length === 0
    ? []
    : [
        PullConnections,
        RequestQueue,
        LockKeeper,
        CrashMarkers,
        StopListener,
        Announcer,
        JobRunner,
        ResultDelivery,
        HeldJobs,
        PullFeed,
        PullLoop,
        Callbacks,
        PullWorker,
        ...work,
        { provide: BlobStore, useFactory: () => blobStoreFrom(spec.sharedQueue!) },
      ];
