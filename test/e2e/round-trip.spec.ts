import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { defaultModels, heard, SENTENCE } from '../support/default-models.js';
import { openaiAt } from '../support/openai-at.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { itWith } from '../support/requires.js';

describe('the default models, through an unchanged OpenAI client', () => {
  let product: Product;
  let openai: OpenAI;
  let mp3: Buffer;

  beforeAll(async () => {
    product = await Product.start(defaultModels());
    openai = openaiAt(product.url, { timeout: 120_000 });
    await product.until('both models ready', async () =>
      (await product.workers()).every(({ state }) => state === 'ready'),
    );
  }, 90_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  it('speaks: /v1/audio/speech answers MP3 by default', async () => {
    const speech = await openai.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: SENTENCE,
    });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    mp3 = Buffer.from(await speech.arrayBuffer());
    expect(mp3.length).toBeGreaterThan(5000);
  });

  it('hears what it spoke: at least five of the six words', async () => {
    const { text } = await openai.audio.transcriptions.create({
      file: await toFile(mp3, 'fox.mp3'),
      model: 'whisper-1',
    });
    expect(heard(text)).toBeGreaterThanOrEqual(5);
  });

  itWith({ name: 'two CPU cores', present: availableParallelism() > 1, ofMachine: true })(
    'hears several at a time: concurrent requests form groups',
    async () => {
      const sizes: number[] = [];
      // The first group may be one that is alone; what waits behind it goes together.
      for (let round = 0; round < 3 && Math.max(0, ...sizes) < 2; round += 1) {
        const transcribe = async (): Promise<number> => {
          const body = new FormData();
          body.set('file', new Blob([new Uint8Array(mp3)]), 'fox.mp3');
          body.set('model', 'whisper-1');
          const answer = await fetch(`${product.url}/v1/audio/transcriptions`, {
            method: 'POST',
            body,
          });
          expect(answer.status).toBe(200);
          return Number(answer.headers.get('x-switchyard-batch-size'));
        };
        sizes.push(...(await Promise.all(Array.from({ length: 6 }, transcribe))));
      }
      expect(Math.max(...sizes)).toBeGreaterThan(1);
    },
  );

  it.each(['opus', 'aac', 'flac', 'wav', 'pcm'] as const)(
    'speaks %s that it understands again',
    async format => {
      const speech = await openai.audio.speech.create({
        model: 'tts-1',
        voice: 'onyx',
        input: SENTENCE,
        response_format: format,
      });
      let audio = Buffer.from(await speech.arrayBuffer());
      // Raw PCM has no header to recognise it by; a WAV header makes it a file.
      if (format === 'pcm') audio = pcmWav(audio, 24_000);
      const file = await toFile(audio, `fox.${format === 'pcm' ? 'wav' : format}`);
      const { text } = await openai.audio.transcriptions.create({
        file,
        model: 'gpt-4o-transcribe',
      });
      expect(heard(text)).toBeGreaterThanOrEqual(5);
    },
  );

  it('gives words with times that fit the audio', async () => {
    const answer = await openai.audio.transcriptions.create({
      file: await toFile(mp3, 'fox.mp3'),
      model: 'whisper-1',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    const words = answer.words ?? [];
    expect(words.length).toBeGreaterThanOrEqual(8);
    words.forEach(({ start, end }, index) => {
      expect(start).toBeLessThanOrEqual(end);
      expect(start).toBeGreaterThanOrEqual(words[index - 1]?.start ?? 0);
      expect(end).toBeLessThanOrEqual(Number(answer.duration) + 0.1);
    });
    expect(answer.segments?.map(({ text }) => text).join(' ')).toContain('brown');
  });
});
