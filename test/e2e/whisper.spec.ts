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

  it('takes headerless 16 kHz samples as Bazarr sends them, tells subtitles and the language', async () => {
    const audio = await speak(TEXTS[2]!);
    const samples = at16kHz(Buffer.from(await audio.arrayBuffer()));
    const send = (path: string): Promise<Response> => {
      const body = new FormData();
      body.set('audio_file', new Blob([new Uint8Array(samples)]), 'film.mkv');
      return fetch(`${product.url}${path}&encode=false&model=whisper-onnx-under-test`, { method: 'POST', body });
    };
    const subtitles = await (await send('/asr?task=transcribe&language=en&output=srt')).text();
    expect(subtitles).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nseven two\n/);
    expect(await (await send('/detect-language?')).json()).toMatchObject({ language_code: 'en' });
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

/** Samples of a 24 kHz WAV file, two of three. */
function at16kHz(file: Buffer): Buffer {
  const header = 44;
  const samples = Math.floor(((file.length - header) / 2) * (2 / 3));
  const out = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at++) {
    const place = at * 1.5;
    const from = header + 2 * Math.floor(place);
    const [one, next] = [file.readInt16LE(from), file.readInt16LE(Math.min(from + 2, file.length - 2))];
    out.writeInt16LE(Math.round(one + (next - one) * (place % 1)), 2 * at);
  }
  return out;
}
