import { resolve } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { Logger } from '@nestjs/common';
import { bytesOf } from '@switchyard/engine-api/audio/pcm.js';
import { type StreamConfig, streamConfigMessage } from '@switchyard/worker-protocol/call.codec.js';
import {
  type SpeechToTextClient,
  SpeechToTextStub,
} from '@switchyard/worker-protocol/stt.codec.js';
import { systemResolver } from '../../../src/gateway/worker-pool/address-watch.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { builtWorkerLaunch } from '../../../src/gateway/worker-pool/worker-roster.js';
import { ProcessClock } from '../../../src/platform/clock/process-clock.js';
import { ModelList } from '../../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { type StreamHandle } from '../../../src/worker-client/stream-handle.js';
import { recording } from '../../support/recordings.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause } from '../../support/waiting.js';
import { BenchWorker } from './bench-worker.js';
import { distribution, type Distribution } from './percentiles.js';
import { seededRandom } from './seeded-random.js';

const FRAME_MS = 20;
/** 20 ms at 16 kHz. */
const FRAME_BYTES = 640;

interface Rounds {
  readonly rounds: number;
  /**
   * A stream is cancelled after so much speech at most: in the middle of words, and of
   * the recogniser's work.
   */
  readonly longestMs: number;
}

export interface StreamCancelTimes {
  /** `cancel()` called to its promise resolved. */
  readonly cancelMs: Distribution;
  /** `cancel()` called to the worker's word that another stream has its only place. */
  readonly reusableMs: Distribution;
}

/**
 * `StreamHandle.cancel()` while somebody speaks, on a worker process with one place
 * for live streams.
 */
export async function streamCancels(): Promise<Record<'synthetic' | 'sherpa', StreamCancelTimes>> {
  const capabilities = ['transcribe', 'stream'] as const;
  // With generated weights: it computes as much as one that was trained.
  const modelDir = resolve('test/fixtures/sherpa/streaming-nemo-ctc');
  const sherpa = syntheticModel(
    { modelDir, streams: 1 },
    { id: 'sherpa', engine: 'sherpa-onnx', capabilities },
  );
  return {
    synthetic: await measure(syntheticModel({ streams: 1 }, { capabilities }), {
      rounds: 200,
      longestMs: 200,
    }),
    sherpa: await measure(sherpa, { rounds: 30, longestMs: 3000 }),
  };
}

async function measure(model: ModelSpec, rounds: Rounds): Promise<StreamCancelTimes> {
  const folder = temporaryFolder();
  const settings = settingsFrom({});
  Logger.overrideLogger(false);
  await using worker = await BenchWorker.start(model, folder);
  const served = { ...model, replicas: 0, addresses: [worker.address] };
  const stub = new SpeechToTextStub(worker.address, credentials.createInsecure());
  const pool = new WorkerPoolService(
    settings,
    new ModelList([served]),
    builtWorkerLaunch(settings),
    new ProcessClock(),
    systemResolver,
  );
  try {
    await pool.start();
    while (!pool.workers().some(({ state }) => state === 'ready')) await pause(10);
    return await cancelWhileSpeaking(pool, stub, { model: model.id, ...rounds });
  } finally {
    stub.close();
    await pool.close();
  }
}

async function cancelWhileSpeaking(
  pool: WorkerPoolService,
  stub: SpeechToTextClient,
  { model, rounds, longestMs }: Rounds & { readonly model: string },
): Promise<StreamCancelTimes> {
  const [cancelMs, reusableMs]: [number[], number[]] = [[], []];
  const speech = Buffer.from(bytesOf(await recording('houses')));
  const random = seededRandom(1);
  await takePlace(stub);
  for (let round = 0; round < rounds; round += 1) {
    const handle = pool.openStream(pool.streamHost(model), config());
    const listening = listen(handle);
    await speak(handle, speech, random() * longestMs);
    const startMs = performance.now();
    await handle.cancel();
    cancelMs.push(performance.now() - startMs);
    reusableMs.push((await takePlace(stub)) - startMs);
    await listening;
  }
  return { cancelMs: distribution(cancelMs), reusableMs: distribution(reusableMs) };
}

let opened = 0;
const config = (): StreamConfig => {
  const sessionId = `cancel-${(opened += 1)}`;
  return { sessionId, language: '', prompt: '', sampleRate: 16_000, partials: true };
};

/**
 * Asks the worker itself until it says that a stream has its place, and gives the place
 * back. @returns when it said so
 */
async function takePlace(stub: SpeechToTextClient): Promise<number> {
  for (;;) {
    const call = stub.transcribeStream();
    const ended = new Promise<void>(resolve => call.once('status', () => resolve()));
    call.on('error', () => undefined);
    const ready = new Promise<number>(resolve =>
      call.once('data', () => resolve(performance.now())),
    );
    call.write(streamConfigMessage(config()));
    call.end();
    const readyMs = await Promise.race([ready, ended]);
    call.resume();
    await ended;
    if (readyMs !== undefined) return readyMs;
    await pause(1);
  }
}

async function listen(handle: StreamHandle): Promise<void> {
  for await (const event of handle.receiveEvents()) void event;
}

/** In real time, by the clock. */
async function speak(handle: StreamHandle, speech: Buffer, forMs: number): Promise<void> {
  const startMs = performance.now();
  for (let frame = 0; frame * FRAME_MS < forMs; frame += 1) {
    void handle.sendFrame(speech.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES));
    await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
  }
}
