import { type Provider } from '@nestjs/common';
import { LockKeeper } from '@switchyard/shared-queue/worker/lock-keeper.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type Logger } from 'pino';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { blobStoreFrom } from '../../platform/storage/blob.module.js';
import { BatchJournal } from '../execution/batch-journal.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { Announcer } from './announcer.js';
import { Callbacks } from './callbacks.js';
import { CrashMarkers } from './crash-markers.js';
import { HeldJobs } from './held-jobs.js';
import { JobRunner } from './job-runner.js';
import { JobWork } from './job-work.js';
import { connectionName, PullConnections } from './pull-connections.js';
import { PullFeed } from './pull-feed.js';
import { PullLoop } from './pull-loop.js';
import { PullWorker } from './pull-worker.js';
import { RecognitionWork } from './recognition-work.js';
import { ResultDelivery } from './result-delivery.js';
import { EmbeddingWork, SpeechWork } from './speech-work.js';
import { StopListener } from './stop-listener.js';

/** Work that workers pull. Generations are always pushed. */
const WORK: Readonly<Partial<Record<ModelKind, Provider>>> = {
  stt: { provide: JobWork, useClass: RecognitionWork },
  tts: { provide: JobWork, useClass: SpeechWork },
  embedding: { provide: JobWork, useClass: EmbeddingWork },
};

/** Of a worker that pulls, besides those of every worker of its kind. */
export function pullProviders(spec: WorkerSpec, kind: ModelKind): Provider[] {
  const work = WORK[kind];
  if (!work) return [];
  return [
    PullConnections,
    {
      provide: RequestQueue,
      inject: [PullConnections, WORKER_LOG],
      useFactory: (link: PullConnections, log: Logger) =>
        new RequestQueue(link, spec.model.id, spec.workerId, log),
    },
    {
      provide: LockKeeper,
      inject: [PullConnections, RequestQueue, WORKER_LOG],
      useFactory: (link: PullConnections, queue: RequestQueue, log: Logger) => {
        const name = connectionName(spec.workerId, 'locks');
        return new LockKeeper(link, queue.key('').slice(0, -1), name, log);
      },
    },
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
    work,
    { provide: BlobStore, useFactory: () => blobStoreFrom(spec.sharedQueue!) },
    {
      provide: BatchJournal,
      inject: [WORKER_LOG, CrashMarkers],
      useFactory: (log: Logger, markers: CrashMarkers) => new BatchJournal(log, markers),
    },
  ];
}
