import { BlobStore } from '../../core/jobs/job.ports.js';
import { type Provider } from '@nestjs/common';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { blobStoreFrom } from '../../platform/storage/blob.module.js';
import { type WorkerEngine } from '../engines/worker-engine.js';
import { BatchJournal } from '../execution/batch-journal.js';
import { Announcer } from './announcer.js';
import { Callbacks } from './callbacks.js';
import { CrashMarkers, PullJournal } from './crash-markers.js';
import { SpeechWork, EmbeddingWork } from './speech-work.js';
import { HeldJobs } from './held-jobs.js';
import { JobIntake } from './job-intake.js';
import { JobRunner } from './job-runner.js';
import { LockKeeper } from './lock-keeper.js';
import { QueuedAudio } from './queued-audio.js';
import { JobWork } from './job-work.js';
import { sharedQueueOf, PullConnections } from './pull-connections.js';
import { PullFeed } from './pull-feed.js';
import { PullLoop } from './pull-loop.js';
import { PullWorker } from './pull-worker.js';
import { RecognitionWork } from './recognition-work.js';
import { RequestQueue } from './request-queue.js';
import { ResultDelivery } from './result-delivery.js';
import { StopListener } from './stop-listener.js';

const EVERY_KIND = [
  PullConnections,
  RequestQueue,
  LockKeeper,
  CrashMarkers,
  StopListener,
  Announcer,
  JobIntake,
  JobRunner,
  ResultDelivery,
  HeldJobs,
  PullFeed,
  PullLoop,
  Callbacks,
  PullWorker,
];

const KINDS = {
  stt: [QueuedAudio, { provide: JobWork, useClass: RecognitionWork }],
  tts: [{ provide: JobWork, useClass: SpeechWork }],
  embedding: [{ provide: JobWork, useClass: EmbeddingWork }],
} as const;

/**
 * Providers of a pull worker, besides those of every worker of its kind; none for a
 * worker that does not pull.
 */
export function pullProviders(spec: WorkerSpec, kind: WorkerEngine['kind']): Provider[] {
  if (!spec.sharedQueue || kind === 'llm') return [];
  const blobs = {
    provide: BlobStore,
    useFactory: () => blobStoreFrom(sharedQueueOf(spec)),
  };
  return [
    ...EVERY_KIND,
    ...KINDS[kind],
    blobs,
    { provide: BatchJournal, useClass: PullJournal },
  ];
}
