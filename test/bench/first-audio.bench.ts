import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { pause } from '../support/waiting.js';
import { atLeast, atMost, progress, type BenchResult } from './support/bench-result.js';
import { listen, type Heard } from './support/listener.js';
import { distribution, rounded } from './support/percentiles.js';
import { exponential, seededRandom } from './support/seeded-random.js';

const ANSWERS = Number(process.env.BENCH_ANSWERS ?? 40);
/** Of each listener. */
const ROUNDS = Math.max(2, ANSWERS / 10);
const THINKS_MS = 1000;
const LOAD = 0.8;

/** Of which answers are made. */
const SENTENCES = [
  'Yes, of course.',
  'The train to the north leaves from the second platform at nine.',
  'You can change the date of your ticket until the evening before you travel.',
  'Breakfast is served in the restaurant car, which is in the middle of the train.',
  'Let me know if you would like a seat by the window, or one close to the door.',
  'It arrives shortly before noon, and nobody has to wait for the bus.',
];

/**
 * How soon does somebody hear the first audio when others listen to the same voice, and does
 * anybody hear a pause? REALTIME, and beside it BATCH, which is spoken whole and in the order
 * of arrival: what everybody had before.
 */
export async function run(): Promise<BenchResult> {
  await using product = await Product.start(await voices());
  await product.allReady();
  const voice = new Callers(product.url);
  await voice.oneAfterTheOther(5);
  const lone = await voice.oneAfterTheOther(ANSWERS);
  const results: Record<string, object> = { 'one after the other': summary(lone) };
  const firstP95 = (heard: readonly Heard[]) => distribution(heard.map(one => one.firstMs)).p95;
  let eight: Heard[] = [];
  for (const count of [4, 8])
    for (const priority of ['batch', 'realtime'] as const) {
      const heard = (eight = await voice.listeners(count, priority));
      results[`${count} listeners, ${priority}`] = summary(heard);
      progress(`  ${count} listeners, ${priority}: ${JSON.stringify(summary(heard))}`);
    }
  const meanMs = lone.reduce((sum, { wholeMs }) => sum + wholeMs, 0) / lone.length;
  const loaded = await voice.arriving(3 * ANSWERS, meanMs / LOAD);
  results[`load ${LOAD}`] = summary(loaded);
  progress(`  load ${LOAD}: ${JSON.stringify(summary(loaded))}`);
  const rates = await voice.rates();
  return {
    results: { ...results, rates },
    goals: [
      atMost('8 listeners: first audio p95, of that of one', firstP95(eight) / firstP95(lone), 2),
      atMost(`load ${LOAD}: answers with a pause in them`, stuttered(loaded), 0.01),
      atLeast(
        'speech made for 8 callers, of one after the other',
        rates.together / rates.alone,
        0.97,
      ),
    ],
  };
}

async function voices(): Promise<readonly ModelSpec[]> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  return real.models.filter(({ kind }) => kind === 'tts');
}

const stuttered = (heard: readonly Heard[]): number =>
  heard.filter(({ lateMs }) => lateMs >= 20).length / heard.length;

const summary = (heard: readonly Heard[]) => ({
  firstMs: distribution(heard.map(({ firstMs }) => firstMs)),
  wholeMs: distribution(heard.map(({ wholeMs }) => wholeMs)),
  pauses: rounded(stuttered(heard)),
});

/** Callers of one voice; their answers are the same in each run. */
class Callers {
  readonly #random = seededRandom(1);

  constructor(private readonly url: string) {}

  async oneAfterTheOther(count: number): Promise<Heard[]> {
    const heard: Heard[] = [];
    while (heard.length < count) heard.push(await this.#ask('realtime'));
    return heard;
  }

  /** Each hears an answer to its end, thinks, and asks again. */
  async listeners(count: number, priority: 'realtime' | 'batch'): Promise<Heard[]> {
    const heard: Heard[] = [];

    const one = async (): Promise<void> => {
      await pause(5 * THINKS_MS * this.#random());
      for (let round = 0; round < ROUNDS; round++) {
        const startMs = performance.now();
        const answer = await this.#ask(priority);
        heard.push(answer);
        const endMs = startMs + answer.firstMs + answer.lateMs + answer.audioMs;
        await pause(Math.max(0, endMs - performance.now()) + THINKS_MS * this.#random());
      }
    };
    await Promise.all(Array.from({ length: count }, one));
    return heard;
  }

  /** They come at random instants, whatever the others do. */
  async arriving(count: number, gapMs: number): Promise<Heard[]> {
    const answers: Promise<Heard>[] = [];
    while (answers.length < count) {
      answers.push(this.#ask('realtime'));
      await pause(exponential(this.#random, gapMs));
    }
    return Promise.all(answers);
  }

  /** Seconds of audio per second, of one caller and of 8 that ask as fast as they can, in turns. */
  async rates(): Promise<{ readonly alone: number; readonly together: number }> {
    const rate = async (callers: number): Promise<number> => {
      const startMs = performance.now();
      const each = Array.from({ length: callers }, () =>
        this.oneAfterTheOther(Math.ceil(ANSWERS / 2 / callers)),
      );
      const heard = (await Promise.all(each)).flat();
      const audioMs = heard.reduce((sum, one) => sum + one.audioMs, 0);
      return audioMs / (performance.now() - startMs);
    };
    const [alone, together] = [[] as number[], [] as number[]];
    for (let round = 0; round < 3; round++) {
      alone.push(await rate(1));
      together.push(await rate(8));
    }
    return { alone: distribution(alone).p50, together: distribution(together).p50 };
  }

  #ask(priority: 'realtime' | 'batch'): Promise<Heard> {
    const count = 2 + Math.floor(6 * this.#random());
    const input = Array.from(
      { length: count },
      () => SENTENCES[Math.floor(SENTENCES.length * this.#random())],
    ).join(' ');
    return listen(this.url, { model: 'tts-1', voice: 'alloy', input }, priority);
  }
}
