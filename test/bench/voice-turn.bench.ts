import { Product } from '../support/product.js';
import { fetchRealModels, wavSamples } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { distribution, median, rounded } from './support/percentiles.js';

const TURNS = 12;
const TOGETHER = 4;
const CLIP = 'pytest_audioeval/samples/audio/en/quick_brown_fox.wav';

type Stage = 'hears' | 'answers' | 'speaks';

/**
 * Of one stage; `deviceMs`: as the gateway tells it in Server-Timing. The head of a stream
 * of speech goes out before it is known.
 */
interface Spent {
  readonly ms: number;
  readonly deviceMs: number | undefined;
}

/**
 * What does a turn of a voice assistant take, stage by stage, on the starter set: speech
 * in, text, answer, speech out? And how soon after the end of speech does a live session
 * have what Whisper hears?
 */
export async function run(): Promise<BenchResult> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  await using product = await Product.start(real.models);
  await product.until('all three models are ready', async () => {
    const workers = await product.workers();
    return workers.length === 3 && workers.every(({ state }) => state === 'ready');
  });
  const clip = await real.speech(CLIP);
  await turn(product.url, clip);
  const alone: Record<Stage, Spent>[] = [];
  for (let at = 0; at < TURNS; at++) alone.push(await turn(product.url, clip));
  const beside = await Promise.all(
    Array.from({ length: TOGETHER }, () => turn(product.url, clip)),
  );
  const live = await liveDelays(product.url, clip);
  const added = alone.map(stages =>
    Object.values(stages).reduce((sum, { ms, deviceMs = ms }) => sum + ms - deviceMs, 0),
  );
  const total = alone.map(whole);
  progress(
    `  a turn: ${median(total)} ms, of which hearing and answering beyond the device: ${median(added)} ms`,
  );
  return {
    results: {
      alone: byStage(alone),
      [`${TOGETHER} at once`]: byStage(beside),
      addedMs: distribution(added),
      liveFinalMs: distribution(live.final),
      liveFinalBeyondRecogniserMs: distribution(live.beyond),
    },
    goals: [
      atMost(
        'of a turn, hearing and answering beyond the device',
        median(added) / median(total),
        0.05,
      ),
      atMost(
        'live: end of speech to final, beyond the recogniser, p95 ms',
        distribution(live.beyond).p95,
        150,
      ),
    ],
  };
}

const whole = (stages: Record<Stage, Spent>): number =>
  Object.values(stages).reduce((sum, { ms }) => sum + ms, 0);

function byStage(turns: readonly Record<Stage, Spent>[]): object {
  const of = (stage: Stage) => ({
    p50Ms: median(turns.map(one => one[stage].ms)),
    deviceP50Ms: median(turns.flatMap(one => one[stage].deviceMs ?? [])),
  });
  return {
    ...{ hears: of('hears'), answers: of('answers'), speaks: of('speaks') },
    wholeP50Ms: rounded(median(turns.map(whole))),
  };
}

async function turn(url: string, clip: Buffer): Promise<Record<Stage, Spent>> {
  const heard = await hear(url, clip);
  const { text } = heard.answer.json() as { text: string };
  const answered = await ask(`${url}/v1/chat/completions`, {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: text }],
    temperature: 0,
    max_tokens: 24,
  });
  const { choices } = answered.answer.json() as {
    choices: { message: { content: string } }[];
  };
  const spoken = await ask(`${url}/v1/audio/speech`, {
    ...{ model: 'tts-1', voice: 'alloy', response_format: 'wav' },
    input: choices[0]!.message.content,
  });
  return { hears: heard.spent, answers: answered.spent, speaks: spoken.spent };
}

function hear(url: string, clip: Buffer) {
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(clip)]), 'speech.wav');
  form.set('model', 'whisper-1');
  form.set('language', 'en');
  return ask(`${url}/v1/audio/transcriptions`, form);
}

async function ask(url: string, body: FormData | object) {
  const startMs = performance.now();
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'x-priority': 'realtime',
      ...(!isForm && { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(bytes.toString());
  const device = /\bdevice;dur=([\d.]+)/.exec(
    response.headers.get('server-timing') ?? '',
  );
  return {
    answer: { json: (): unknown => JSON.parse(bytes.toString()) },
    spent: {
      ms: performance.now() - startMs,
      deviceMs: device ? Number(device[1]) : undefined,
    },
  };
}

/** Utterances that the client ends by `commit`, and the same audio as a file. */
async function liveDelays(url: string, clip: Buffer) {
  const { data, rate } = wavSamples(clip);
  const client = await RealtimeClient.open(url, { model: 'whisper-1' });
  client.update({
    format: { type: 'audio/pcm', rate },
    turn_detection: null,
    transcription: { model: 'whisper-1', language: 'en' },
  });
  await client.next('session.updated');
  const final: number[] = [];
  const beyond: number[] = [];
  for (let at = 0; at < TURNS; at++) {
    client.say(data);
    const startMs = performance.now();
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    const ms = performance.now() - startMs;
    const { spent } = await hear(url, clip);
    final.push(ms);
    beyond.push(ms - (spent.deviceMs ?? 0));
  }
  client.socket.close();
  return { final, beyond };
}
