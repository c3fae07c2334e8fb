import { GatewayProcess } from '../support/gateway-process.js';
import { transcriptionRequest } from '../support/http-request.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchRealModels, wavSamples } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { LoadProcess } from './support/load-process.js';
import { distribution, median, rounded } from './support/percentiles.js';
import { liveDelays } from './support/whisper-live.js';

const STREAMS = 2;
const FILE_CALLERS = 50;
const UTTERANCES = 40;
const UTTERANCES_OF_WHISPER = 12;
const CALLERS_OF_WHISPER = 8;
/** 20 ms at 16 kHz. */
const FRAME = Buffer.alloc(640, 1);
const FRAME_MS = 20;
const LOAD = { warmupMs: 2000, durationMs: 30_000 };

/**
 * Do live streams feel 50 file requests that take every file slot? First text after the
 * first frame, idle and loaded in turns.
 */
export async function run(): Promise<BenchResult> {
  const folder = temporaryFolder();
  const model = syntheticModel(
    { streams: STREAMS, baseMs: 20, maxBatch: 8 },
    { capabilities: ['transcribe', 'stream'] },
  );
  await using gateway = await GatewayProcess.start([model], {}, { folder });
  await using files = new LoadProcess();
  const url = `http://127.0.0.1:${gateway.port}`;
  const clients = await Promise.all(
    Array.from({ length: STREAMS }, () => RealtimeClient.synthetic(url)),
  );
  await firstTexts(clients);
  const idle = await firstTexts(clients);
  const load = files.run({
    ...{ port: gateway.port, ...LOAD, numericHeaders: [] },
    request: transcriptionRequest({ model: model.id, priority: 'batch' }),
    arrivals: { kind: 'closed', callers: FILE_CALLERS },
  });
  await pause(LOAD.warmupMs);
  const loaded = await firstTexts(clients);
  const { requestsPerS } = await load;
  for (const client of clients) client.socket.close(1000);
  const whisper = await whisperBesideFiles(files);
  progress(
    `  first text: idle ${median(idle)} ms, with ${FILE_CALLERS} files ${median(loaded)} ms`,
  );
  return {
    results: {
      idleMs: distribution(idle),
      loadedMs: distribution(loaded),
      filesPerS: rounded(requestsPerS),
      ...(whisper && { whisper: whisper.results }),
    },
    goals: [
      atMost('first text under load / idle, medians', median(loaded) / median(idle), 1.1),
      ...(whisper?.goals ?? []),
    ],
  };
}

/**
 * Utterances for Whisper, each a REALTIME request, beside files that keep its one device
 * busy: an utterance waits for the group of files that is being computed.
 */
async function whisperBesideFiles(files: LoadProcess): Promise<BenchResult | undefined> {
  const { real, name, present } = await fetchRealModels();
  if (!present) return void progress(`  Whisper is left out: ${name}`);
  const whisper = real.models.filter(({ id }) => id === 'whisper-base');
  await using product = await Product.start(whisper);
  await product.allReady();
  const { url } = product;
  const clip = await real.speech('pytest_audioeval/samples/audio/en/quick_brown_fox.wav');
  await liveDelays(url, clip, 2);
  const idle = (await liveDelays(url, clip, UTTERANCES_OF_WHISPER)).final;
  const { data, rate } = wavSamples(clip);
  const load = files.run({
    ...{ port: Number(new URL(url).port), ...LOAD, durationMs: 2 * LOAD.durationMs },
    ...{ numericHeaders: [] },
    request: transcriptionRequest({
      ...{ model: 'whisper-1', priority: 'batch', file: pcmWav(data, rate) },
    }),
    arrivals: { kind: 'closed', callers: CALLERS_OF_WHISPER },
  });
  await pause(LOAD.warmupMs);
  const beside = (await liveDelays(url, clip, UTTERANCES_OF_WHISPER)).final;
  const { requestsPerS } = await load;
  const [alone, loaded] = [idle, beside].map(distribution);
  progress(
    `  Whisper, end of speech to completed: ${JSON.stringify(alone)} ms, beside files ${JSON.stringify(loaded)} ms`,
  );
  return {
    results: { idleMs: alone, besideFilesMs: loaded, filesPerS: rounded(requestsPerS) },
    goals: [
      atMost(
        `Whisper: end of speech to completed beside ${CALLERS_OF_WHISPER} files / idle, medians`,
        median(beside) / median(idle),
        2.5,
      ),
    ],
  };
}

async function firstTexts(clients: readonly RealtimeClient[]): Promise<number[]> {
  return (await Promise.all(clients.map(client => utterances(client)))).flat();
}

/** Milliseconds from the first frame of each utterance to its first delta. */
async function utterances(client: RealtimeClient): Promise<number[]> {
  const delays: number[] = [];
  for (let utterance = 0; utterance < UTTERANCES; utterance += 1) {
    const startMs = performance.now();
    const heard = client
      .next(`${TRANSCRIPTION}.delta`)
      .then(() => delays.push(performance.now() - startMs));
    for (let frame = 1; frame <= 10; frame += 1) {
      client.say(FRAME);
      await pause(Math.max(0, startMs + frame * FRAME_MS - performance.now()));
    }
    await heard;
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
  }
  return delays;
}
