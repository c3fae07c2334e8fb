import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchRealModels, type RealModels, wavSamples } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { CpuMeter, devicesOf } from './support/cpu-activity.js';
import { type PacedSession, pacedSession, type Speech } from './support/paced-session.js';
import { distribution, median, rounded } from './support/percentiles.js';
import { hear } from './support/whisper-live.js';

const SESSIONS = (process.env.BENCH_SESSIONS ?? '1,2,4,8').split(',').map(Number);
const UTTERANCES = Number(process.env.BENCH_UTTERANCES ?? 12);
/** A folder: the first session is written there, the audio and its events. */
const RECORD = process.env.BENCH_RECORD;
/** 45 s. */
const CLIP = 'moonshine_voice/assets/two_cities.wav';
/** Seconds of it, from a pause to a pause, that are each half of a session where halves are compared. */
const HALF_S = [0.9, 24.2] as const;
/** Between the halves: both are cut into the same utterances. */
const PAUSE_S = 0.7;
const SHORT_CLIP = 'pytest_audioeval/samples/audio/en/quick_brown_fox.wav';
const MODEL = 'whisper-1';
/** Behind it, so that its last utterance ends. */
const SILENCE_S = 2;

/**
 * Live words of Whisper, which hears files only: how soon does somebody read the first words
 * and the final ones, does the lag grow with a session or with others, what do words before
 * the end cost, and what does a commit cost beside a file?
 */
export async function run(): Promise<BenchResult> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  const { data, rate } = wavSamples(await real.speech(CLIP));
  const half = data.subarray(...HALF_S.map(s => 2 * Math.round(s * rate)));
  const silence = (seconds: number): Buffer => Buffer.alloc(2 * Math.round(seconds * rate));
  const end = silence(SILENCE_S);
  const speech = { rate, data: Buffer.concat([data, end]) };
  const twice = { rate, data: Buffer.concat([half, silence(PAUSE_S), half, end]) };
  const silent = await alone(real, speech, { 'realtime.interim_ms': 0 });
  await using product = await started(real);
  const first = await costOf(product, speech);
  if (RECORD) await record(RECORD, speech, first.session);
  const named = summary([await pacedSession(product.url, MODEL, speech, 'en')]);
  progress(`  its language named: ${JSON.stringify(named)}`);
  const sessions: Record<string, ReturnType<typeof grown>> = {};
  for (const count of SESSIONS) {
    const all = Array.from({ length: count }, () => pacedSession(product.url, MODEL, twice));
    sessions[count] = grown(await Promise.all(all));
    progress(`  ${count} sessions: ${JSON.stringify(sessions[count])}`);
  }
  const commits = await commitRatios(product.url, await real.speech(SHORT_CLIP));
  const without = summary([silent.session]);
  const one = summary([first.session]);
  return {
    results: {
      alone: one,
      sessions,
      languageNamed: named,
      withoutInterim: without,
      cpuPerSecond: { with: first.cpuPerS, without: silent.cpuPerS },
      commitToCompletedOfHttp: distribution(commits),
    },
    goals: [
      atMost('first words, p95 ms', one.firstWordsMs.p95, 1200),
      atMost('final text, of that without interim', one.lagMs.p50 / without.lagMs.p50, 1.1),
      ...Object.entries(sessions).map(([count, { growth }]) =>
        atMost(`lag, second half of the first, sessions: ${count}`, growth, 1.1),
      ),
      atMost('commit to completed, of the same by HTTP', median(commits), 1.15),
    ],
  };
}

async function started(real: RealModels, settings = {}): Promise<Product> {
  const product = await Product.start(real.models, settings);
  await product.until('its models', async () => {
    const workers = await product.workers();
    return workers.length === real.models.length && workers.every(isReady);
  });
  return product;
}

const isReady = ({ state }: { readonly state: string }): boolean => state === 'ready';

async function alone(real: RealModels, speech: Speech, settings: object) {
  await using product = await started(real, settings);
  // Awaited here: the product ends with this function.
  return await costOf(product, speech);
}

/** One session, and the CPU of the recogniser for each second of it. */
async function costOf(product: Product, speech: Speech) {
  const workers = await product.workers();
  const whisper = workers.filter(({ model }) => model === 'whisper-base');
  const meter = new CpuMeter(devicesOf(...whisper.map(({ pid }) => pid)));
  const beforeMs = meter.ms;
  const session = await pacedSession(product.url, MODEL, speech);
  const seconds = speech.data.length / (2 * speech.rate);
  const cpuPerS = rounded((meter.ms - beforeMs) / 1000 / seconds);
  progress(`  a session: ${JSON.stringify(summary([session]))}, CPU ${cpuPerS} s per second`);
  return { session, cpuPerS };
}

const servedOf = (sessions: readonly PacedSession[]): readonly PacedSession[] =>
  sessions.filter(({ refused }) => refused === undefined);

function summary(sessions: readonly PacedSession[]) {
  const served = servedOf(sessions);
  return {
    refused: sessions.flatMap(({ refused }) => refused ?? []),
    firstWordsMs: distribution(served.flatMap(({ firstWordsMs }) => firstWordsMs)),
    lagMs: distribution(served.flatMap(({ lagMs }) => lagMs)),
  };
}

/**
 * Also the mean lag of the second halves, by that of the first. Of all sessions together: of two
 * utterances that end together one waits for the other, now of this session and now of that one.
 */
function grown(sessions: readonly PacedSession[]) {
  const lags = servedOf(sessions).map(({ lagMs }) => lagMs);
  const early = distribution(lags.flatMap(lag => lag.slice(0, lag.length / 2)));
  const late = distribution(lags.flatMap(lag => lag.slice(lag.length / 2)));
  return { ...summary(sessions), growth: rounded(late.mean / early.mean) };
}

/** From commit to final text, by what the same audio takes as a file, in turns. */
async function commitRatios(url: string, clip: Buffer): Promise<number[]> {
  const { data, rate } = wavSamples(clip);
  const client = await RealtimeClient.open(url, { model: MODEL });
  client.update({
    format: { type: 'audio/pcm', rate },
    turn_detection: null,
    transcription: { model: MODEL, language: 'en' },
  });
  await client.next('session.updated');
  const ratios: number[] = [];
  for (let at = 0; at < UTTERANCES; at++) {
    const { spent } = await hear(url, clip);
    client.say(data);
    const startMs = performance.now();
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    ratios.push((performance.now() - startMs) / spent.ms);
  }
  client.socket.close(1000);
  return ratios;
}

async function record(
  folder: string,
  { data, rate }: Speech,
  { events }: PacedSession,
): Promise<void> {
  const lines = events.map(({ atMs, event }) => JSON.stringify({ at_ms: Math.round(atMs), event }));
  await writeFile(join(folder, 'live-words.wav'), pcmWav(data, rate));
  await writeFile(join(folder, 'live-words.jsonl'), `${lines.join('\n')}\n`);
}
