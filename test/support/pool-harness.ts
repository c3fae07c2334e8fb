import { PassThrough, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { systemResolver } from '../../src/gateway/worker-pool/address-watch.js';
import { type WorkerLaunch } from '../../src/gateway/worker-pool/worker-location.js';
import { WorkerPoolService } from '../../src/gateway/worker-pool/worker-pool.service.js';
import { type WorkerView } from '../../src/gateway/worker-pool/worker-view.js';
import { ProcessClock } from '../../src/platform/clock/process-clock.js';
import { ModelList } from '../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { type SettingPath, settingsFrom } from '../../src/platform/config/settings.js';
import { workerEnvironment } from '../../src/platform/config/worker-spec.js';
import {
  type AudioSource,
  type SynthesizeTask,
  type TranscribeTask,
  type WorkerTask,
  type TaskRequest,
} from '../../src/worker-client/worker-task.js';
import { leftover } from './leftovers.js';
import { aKey } from './requests.js';
import { syntheticModel } from './synthetic-model.js';
import { until } from './waiting.js';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts `fixture-worker-process.ts` instead of the built worker. */
export const fixtureLaunch: WorkerLaunch = {
  command: process.execPath,
  args: [
    '--no-warnings',
    '--import',
    path('./typescript-loader.mjs'),
    path('./fixture-worker-process.ts'),
  ],
  environment: (spec, replica) => workerEnvironment(spec, undefined, replica?.env),
  stopGraceMs: 5000,
};

export const modelSpec = (overrides: Partial<ModelSpec> = {}): ModelSpec =>
  syntheticModel({}, { id: 'm', replicas: 0, ...overrides });

export interface PoolOptions {
  /** A list, where they change later. */
  readonly models: readonly ModelSpec[] | ModelList;
  readonly settings?: Partial<Record<SettingPath, number | string>>;
  readonly launch?: Partial<WorkerLaunch>;
  /** In place of the system's name resolution. */
  readonly resolve?: typeof systemResolver;
}

/** Short waits so that tests need few seconds; nothing asserts how long they took. */
const QUICK = {
  'workers.health_interval_ms': 100,
  'workers.restart_min_ms': 10,
  'workers.restart_max_ms': 50,
  'server.upload_limit_bytes': 4 * 1024 * 1024,
} as const;

export function makePool({
  models,
  settings,
  launch,
  resolve = systemResolver,
}: PoolOptions): WorkerPoolService {
  Logger.overrideLogger(false);
  const pool = new WorkerPoolService(
    settingsFrom({ ...QUICK, ...settings }),
    models instanceof ModelList ? models : new ModelList(models),
    { ...fixtureLaunch, ...launch },
    new ProcessClock(),
    resolve,
  );
  leftover(() => pool.close());
  return pool;
}

/**
 * Resolves with the worker's view as soon as it satisfies `condition`. Rejects, and tells
 * what there is, after `WAIT_LIMIT_MS`.
 */
export async function workerThat(
  pool: WorkerPoolService,
  condition: (worker: WorkerView) => boolean,
): Promise<WorkerView> {
  let found: WorkerView | undefined;
  await until(() => (found = pool.workers().find(condition)) !== undefined, {
    ...{ what: condition.toString(), everyMs: 5, told: () => JSON.stringify(pool.workers()) },
  });
  return found!;
}

export const isReady = ({ state }: WorkerView): boolean => state === 'ready' || state === 'busy';

let made = 0;

export function request(payload: WorkerTask, id = `r-${++made}`): TaskRequest {
  return {
    id,
    key: aKey(id),
    model: 'm',
    priority: RequestPriority.BATCH,
    costMs: 1,
    bytes: 0,
    enqueuedAtMs: 0,
    queueDeadlineMs: 120_000,
    inferenceTimeoutMs: 30_000,
    payload,
  };
}

/** A transcription that the fixture treats as `prompt` says. */
export const transcribe = (
  prompt = '',
  audio: Buffer = Buffer.alloc(1000),
  id?: string,
): TaskRequest =>
  request(
    transcribeTask(prompt, () => Promise.resolve(audio)),
    id,
  );

export const transcribeTask = (prompt: string, bytes: () => Promise<Buffer>): TranscribeTask => ({
  ...PLAIN_TRANSCRIPTION,
  kind: 'transcribe',
  audio: audioSource(bytes),
  filename: 'a.wav',
  language: 'en',
  prompt,
});

/** An upload of these bytes, in pieces of 64 KiB where it is streamed. */
export const audioSource = (bytes: () => Promise<Buffer>, size = 0): AudioSource => ({
  size,
  bytes,
  async *chunks() {
    const all = await bytes();
    for (let at = 0; at < all.length; at += 65_536) yield all.subarray(at, at + 65_536);
  },
  dispose: () => Promise.resolve(),
});

export interface HeardSpeech {
  readonly task: SynthesizeTask;
  readonly headers: { contentType: string; sampleRate: number }[];
}

/** A synthesis that the fixture treats as `text` says. */
export function synthesize(text: string, audio: Writable = new PassThrough()): HeardSpeech {
  const headers: HeardSpeech['headers'] = [];
  const sink = {
    header: (header: HeardSpeech['headers'][number]) => void headers.push(header),
    audio,
  };
  return {
    headers,
    task: { kind: 'synthesize', text, voice: 'v', speed: 1, format: 'wav', sink },
  };
}

export const alone = { id: 'g', size: 1 };
