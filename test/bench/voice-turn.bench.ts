import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { distribution, median, rounded } from './support/percentiles.js';
import { ask, hear, liveDelays, type Spent } from './support/whisper-live.js';

const TURNS = 12;
const TOGETHER = 4;
const CLIP = 'pytest_audioeval/samples/audio/en/quick_brown_fox.wav';

type Stage = 'hears' | 'answers' | 'speaks';

/**
 * What does a turn of a voice assistant take, stage by stage, on the starter set: speech
 * in, text, answer, speech out? And how soon after the end of speech does a live session
 * have what Whisper hears?
 */
export async function run(): Promise<BenchResult> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  await using product = await Product.start(real.models);
  await product.until('all four models are ready', async () => {
    const workers = await product.workers();
    return workers.length === 4 && workers.every(({ state }) => state === 'ready');
  });
  const clip = await real.speech(CLIP);
  await turn(product.url, clip);
  const alone: Record<Stage, Spent>[] = [];
  for (let at = 0; at < TURNS; at++) alone.push(await turn(product.url, clip));
  const beside = await Promise.all(Array.from({ length: TOGETHER }, () => turn(product.url, clip)));
  const live = await liveDelays(product.url, clip, TURNS);
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
