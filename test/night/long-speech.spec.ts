import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { describeWith } from '../support/requires.js';

const RATE = 24_000;
const PAUSE_S = 0.8;
const REPEATS = 16;
/**
 * Each with words that the recogniser never misses, which tell the sentence
 * from the others.
 */
const SENTENCES = [
  { text: 'The quick brown fox jumps over the lazy dog.', sign: 'quick brown fox' },
  { text: 'Every request has a place in the line.', sign: 'every request' },
  { text: 'Please call me again in the morning.', sign: 'please call' },
] as const;

interface Placed {
  readonly sign: string;
  readonly startS: number;
}

const { real, ...published } = await fetchRealModels();

describeWith(published)('minutes of speech with pauses, spoken by Piper, heard by Whisper', () => {
  let product: Product;
  let openai: OpenAI;
  let placed: Placed[];
  let wav: Buffer;

  beforeAll(async () => {
    product = await Product.start(
      real.models.filter(({ id }) => ['whisper-base', 'piper-en-joe'].includes(id)),
    );
    openai = openaiAt(product.url, { timeout: 240_000 });
    await product.allReady();
    ({ placed, wav } = await spoken(openai));
  }, 120_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  it('comes back with every sentence in its place: right words, times within 0.5 s, in order', async () => {
    const file = await toFile(wav, 'minutes.wav');
    const transcript = await openai.audio.transcriptions.create({
      ...{
        file,
        model: 'whisper-1',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      },
    });
    const words = (transcript.words ?? []).map(({ word, ...times }) => ({
      ...times,
      word: word.toLowerCase().replaceAll(/[^a-z]/g, ''),
    }));
    const text = words.map(({ word }) => word).join(' ');
    const found = placed.filter(({ sign, startS }) =>
      words.some((word, at) => isAt(words, at, sign, startS) && word),
    );
    // Recognition is real: one sentence in twenty may be misheard.
    expect(found.length / placed.length).toBeGreaterThanOrEqual(0.95);
    expect(text.split('quick brown fox').length - 1).toBeLessThanOrEqual(REPEATS);
    expect(
      words.every(({ start, end }, at) => start <= end && start >= (words[at - 1]?.start ?? 0)),
    ).toBe(true);
    const segments = transcript.segments ?? [];
    expect(segments.map(({ id }) => id)).toEqual(segments.map((_, id) => id));
    expect(segments.every(({ start }, at) => start >= (segments[at - 1]?.end ?? 0))).toBe(true);
    expect(transcript.duration).toBeCloseTo((wav.length - 44) / 2 / RATE, 0);
  }, 240_000);

  it('is streamed while it is recognised: many deltas that make up the text, one done', async () => {
    const stream = await openai.audio.transcriptions.create({
      file: await toFile(wav, 'minutes.wav'),
      model: 'whisper-1',
      stream: true,
    });
    let text = '';
    let running = 0;
    const done: string[] = [];
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') done.push(event.text);
      if (text !== '' && running === 0) {
        const { data } = await product.json<{ data: unknown[] }>(
          '/admin/v1/requests?state=running',
        );
        running = data.length;
      }
    }
    expect(done).toEqual([text]);
    expect(running).toBe(1);
    expect(text.split('quick brown fox').length - 1).toBeGreaterThanOrEqual(REPEATS - 1);
  }, 240_000);
});

/**
 * The words of `sign` begin at word `at`, within half a second of where the
 * sentence was put.
 */
function isAt(
  words: readonly OpenAI.Audio.TranscriptionWord[],
  at: number,
  sign: string,
  startS: number,
): boolean {
  const text = words
    .slice(at, at + sign.split(' ').length)
    .map(({ word }) => word)
    .join(' ');
  // The first word of the sign may be the second of its sentence.
  return (
    text === sign &&
    words[at]!.start >= startS - 0.5 &&
    words[at]!.start <= startS + 0.5 + offsetOf(sign)
  );
}

const offsetOf = (sign: string): number => (sign === SENTENCES[0].sign ? 0.2 : 0);

/** All sentences with a pause after each, again and again, and where each one begins. */
async function spoken(openai: OpenAI): Promise<{ placed: Placed[]; wav: Buffer }> {
  const clips = await Promise.all(
    SENTENCES.map(async ({ text, sign }) => {
      const speech = await openai.audio.speech.create({
        ...{ model: 'tts-1', voice: 'onyx', input: text, response_format: 'pcm' },
      });
      return { sign, pcm: Buffer.from(await speech.arrayBuffer()) };
    }),
  );
  const pause = Buffer.alloc(RATE * PAUSE_S * 2);
  const parts: Buffer[] = [];
  const placed: Placed[] = [];
  let bytes = 0;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const { sign, pcm } of clips) {
      placed.push({ sign, startS: bytes / 2 / RATE });
      parts.push(pcm, pause);
      bytes += pcm.length + pause.length;
    }
  }
  return { placed, wav: pcmWav(Buffer.concat(parts), RATE) };
}
