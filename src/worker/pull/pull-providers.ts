import { type Provider } from '@nestjs/common';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { BLOB_STORE, blobStoreFrom } from '../../platform/storage/blob.module.js';
import { type WorkerEngine } from '../engines/engine.js';
import { Announcer } from './announcer.js';
import { CallbackOutbox } from './callbacks/callback-outbox.js';
import { CallbackSender } from './callbacks/callback-sender.js';
import { DeadLetters } from './dead-letters.js';
import { DeathMarks } from './death-marks.js';
import { EmbeddingWork } from './embedding-work.js';
import { Housekeeping } from './housekeeping.js';
import { InHand } from './in-hand.js';
import { JobIntake } from './job-intake.js';
import { JobRunner } from './job-runner.js';
import { LockKeeper } from './lock-keeper.js';
import { PlaneAudioStore } from './plane-audio.js';
import { PLANE_WORK } from './plane-work.js';
import { PullCare } from './pull-care.js';
import { PullConnections, planeOf } from './pull-connections.js';
import { PullFeed } from './pull-feed.js';
import { PullLoop } from './pull-loop.js';
import { PullParts } from './pull-parts.js';
import { PullWorker } from './pull-worker.js';
import { RecognitionWork } from './recognition-work.js';
import { RequestQueue } from './request-queue.js';
import { ResultDelivery } from './result-delivery.js';
import { SpeechWork } from './speech-work.js';
import { StopListener } from './stop-listener.js';

const QUEUE = [
  PullConnections,
  RequestQueue,
  LockKeeper,
  DeadLetters,
  DeathMarks,
  StopListener,
  Housekeeping,
  Announcer,
];
const WORK = [JobIntake, JobRunner, ResultDelivery, InHand, PullFeed, PullLoop, CallbackOutbox, CallbackSender];
const LIFE = [PullCare, PullParts, PullWorker];

const KINDS = {
  stt: [PlaneAudioStore, { provide: PLANE_WORK, useClass: RecognitionWork }],
  tts: [{ provide: PLANE_WORK, useClass: SpeechWork }],
  embedding: [{ provide: PLANE_WORK, useClass: EmbeddingWork }],
} as const;

/** What a worker needs to pull, besides what every worker of its kind has. Nothing: it is not told to. */
export function pullProviders(spec: WorkerSpec, kind: WorkerEngine['kind']): Provider[] {
  if (!spec.plane || kind === 'llm') return [];
  const blobs = { provide: BLOB_STORE, useFactory: () => blobStoreFrom(planeOf(spec)) };
  return [...QUEUE, ...WORK, ...LIFE, ...KINDS[kind], blobs];
}
