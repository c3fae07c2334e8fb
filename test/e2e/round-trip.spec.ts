import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchFirstModels, heard, SENTENCE } from '../support/real-models.js';
import { describeWith } from '../support/requires.js';

const first = await fetchFirstModels();

describeWith(first)('the first models, through an unchanged OpenAI client', () => {
  let product: Product;
  let openai: OpenAI;
  let mp3: Buffer;

  beforeAll(async () => {
    product = await Product.start(first.models);
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
});
