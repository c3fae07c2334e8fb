import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { type Logger } from 'pino';
import { SpeechPace } from '../core/latency/speech-pace.js';
import { ClockModule } from '../platform/clock/clock.module.js';
import { type ModelKind } from '../platform/config/model-spec.js';
import { WorkerSpec } from '../platform/config/worker-spec.js';
import { AudioDownload } from './audio/audio-download.js';
import { ENGINE, type WorkerEngine } from './engines/worker-engine.js';
import { BatchJournal } from './execution/batch-journal.js';
import { EmbeddingService } from './execution/embedding.service.js';
import { HealthReporter } from './execution/health-reporter.js';
import { LongTranscriptionService } from './execution/long-transcription.service.js';
import { RecognitionService } from './execution/recognition.service.js';
import { SynthesisService } from './execution/synthesis.service.js';
import { GenerationService } from './generation/generation.service.js';
import { EmbeddingController } from './grpc/embedding.controller.js';
import { GenerationController } from './grpc/generation.controller.js';
import { HealthCheckController } from './grpc/health.controller.js';
import { StreamService } from './grpc/stream.service.js';
import { SttController } from './grpc/stt.controller.js';
import { TtsController } from './grpc/tts.controller.js';
import { UploadService } from './grpc/upload.service.js';
import { InFlightCalls } from './lifecycle/in-flight-calls.js';
import { WorkerDrain } from './lifecycle/worker-drain.js';
import { WORKER_LOG } from './lifecycle/worker-log.js';
import { PullReadiness, WorkerState } from './lifecycle/worker-state.js';

const EVERY_WORKER: Provider[] = [
  WorkerState,
  PullReadiness,
  WorkerDrain,
  {
    provide: BatchJournal,
    inject: [WORKER_LOG],
    useFactory: (log: Logger) => new BatchJournal(log),
  },
  InFlightCalls,
  SpeechPace,
  HealthReporter,
];

/** One engine, one model, one device: only the service of its kind is there. */
@Module({})
export class WorkerModule {
  /** @param parts `replaced`: in place of providers of the same name */
  static async forEngine({
    spec,
    engine,
    log,
    replaced = [],
  }: {
    readonly spec: WorkerSpec;
    readonly engine: Pick<WorkerEngine, 'kind'>;
    readonly log: Logger;
    readonly replaced?: readonly Provider[];
  }): Promise<DynamicModule> {
    const kind = KINDS[engine.kind];
    const queue = await queueProviders(spec, engine.kind);
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
        ...queue,
        ...replaced,
      ],
    };
  }
}

/** BullMQ takes 10 MiB of a worker, which one that only takes calls does without. */
async function queueProviders(spec: WorkerSpec, kind: ModelKind): Promise<readonly Provider[]> {
  if (spec.pull) return (await import('./pull/pull-providers.js')).pullProviders(spec, kind);
  // A worker that was started by hand is not on a device.
  const isPlaced = spec.sharedQueue !== undefined && spec.localToken !== undefined;
  return isPlaced ? (await import('./pull/announcer.js')).ANNOUNCING : [];
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
  },
  tts: {
    controllers: [TtsController],
    providers: [SynthesisService],
  },
  llm: { controllers: [GenerationController], providers: [GenerationService] },
  embedding: {
    controllers: [EmbeddingController],
    providers: [EmbeddingService],
  },
};
