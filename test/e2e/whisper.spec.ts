import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { modelSpec } from '../contract/engines/engine-items.js';
import { whisperFolder } from '../support/whisper-model.js';
import { Product } from '../support/product.js';

const TEXTS = ['one nine four', 'green black black five', 'seven two', 'blue blue three'];

describe('Whisper on ONNX Runtime behind the built product', () => {
  let product: Product;
  let openai: OpenAI;

  beforeAll(async () => {
    const options = { modelDir: whisperFolder('spoken'), threads: 1, conditionOnPreviousText: false };
    const whisper = {
      ...modelSpec('whisper-onnx', 'stt', options),
      capabilities: ['transcribe', 'translate', 'word_timestamps', 'prompt', 'temperature', 'logprobs'],
    };
    const voice = { ...modelSpec('flite', 'tts'), capabilities: ['speech'], voices: { alloy: 'rms' } };
    product = await Product.start([whisper, voice]);
    openai = new OpenAI({ baseURL: `${product.url}/v1`, apiKey: 'unused', maxRetries: 0, timeout: 60_000 });
    await product.until('both models ready', async () =>
      (await product.workers()).every(({ state }) => state === 'ready'),
    );
  }, 90_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  const speak = async (input: string) => {
    const made = { model: 'flite-under-test', voice: 'alloy', input: `${input}.`, response_format: 'wav' as const };
    return toFile(Buffer.from(await (await openai.audio.speech.create(made)).arrayBuffer()), 'speech.wav');
  };

  it('hears four files at once as they were spoken, at most one of them wrong', async () => {
    const files = await Promise.all(TEXTS.map(speak));
    const heard = await Promise.all(
      files.map(file => openai.audio.transcriptions.create({ file, model: 'whisper-onnx-under-test' })),
    );
    expect(heard.filter(({ text }, i) => text === TEXTS[i]).length).toBeGreaterThanOrEqual(3);
  });

  it('gives words with times, segments and the language it detected', async () => {
    const answer = await openai.audio.transcriptions.create({
      ...{ file: await speak(TEXTS[0]!), model: 'whisper-onnx-under-test', response_format: 'verbose_json' },
      timestamp_granularities: ['word', 'segment'],
    });
    expect(answer).toMatchObject({ text: TEXTS[0], language: 'english' });
    expect(answer.words!.map(({ word }) => word)).toEqual(TEXTS[0]!.split(' '));
    expect(answer.segments![0]!.avg_logprob).toBeLessThan(0);
  });
});
