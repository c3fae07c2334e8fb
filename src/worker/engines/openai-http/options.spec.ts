import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../../test/support/synthetic-model.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { createEngine } from '../../engine-factory.js';
import { readOpenAiHttpOptions, readOpenAiHttpSpeechOptions } from './options.js';

const BASE = { baseUrl: 'https://gpu-7:8000/v1' };

const spec = (options: ModelSpec['options'], changes: Partial<ModelSpec> = {}) =>
  syntheticModel(options, { id: 'whisper', engine: 'openai-http', capabilities: [], ...changes });

describe('openai-http options', () => {
  it('need a URL only; the upstream model is named as ours, no key, 8 at a time, 2 retries of at most 30 s', () => {
    expect(readOpenAiHttpOptions(spec({ baseUrl: 'http://127.0.0.1:8000/v1//' }))).toEqual({
      modelId: 'whisper',
      baseUrl: 'http://127.0.0.1:8000/v1',
      model: 'whisper',
      timeoutMs: 300_000,
      maxConcurrent: 8,
      maxBatch: 1,
      retries: 2,
      maxRetryWaitMs: 30_000,
      insecureSkipVerify: false,
      apiKeyFile: undefined,
      caFile: undefined,
      headers: {},
      capabilities: [],
      languages: [],
    });
  });

  it.each([
    [{}, 'options.baseUrl is undefined; allowed: an http or https URL'],
    [{ baseUrl: 'ftp://a/v1' }, 'options.baseUrl is "ftp://a/v1"; allowed: an http or https URL'],
    [{ baseUrl: 'https://a/v1?key=1' }, 'without credentials, query and fragment'],
    [{ ...BASE, retries: 11 }, 'options.retries is 11; allowed: a whole number from 0 to 10'],
    [
      { ...BASE, timeoutMs: 0 },
      'options.timeoutMs is 0; allowed: a whole number from 1 to 3600000',
    ],
    [
      { ...BASE, maxConcurrent: 4, maxBatch: 5 },
      'options.maxBatch is 5; allowed: a whole number from 1 to 4',
    ],
    [
      { ...BASE, apiKeyFile: 7 },
      'options.apiKeyFile is 7; allowed: the path of a file, or leave it out',
    ],
    [
      { ...BASE, insecureSkipVerify: 'yes' },
      'options.insecureSkipVerify is "yes"; allowed: true or false',
    ],
    [{ ...BASE, caFile: '/ca', insecureSkipVerify: true }, 'false while options.caFile is set'],
    [
      { baseUrl: 'http://a/v1', caFile: '/ca' },
      'options.caFile is "/ca"; allowed: nothing, unless options.baseUrl is https',
    ],
    [
      { baseUrl: 'http://a/v1', insecureSkipVerify: true },
      'false, unless options.baseUrl is https',
    ],
    [
      { ...BASE, headers: ['a'] },
      'options.headers is ["a"]; allowed: pairs of a header name and its text',
    ],
    [
      { ...BASE, headers: { 'a b': 'c' } },
      'options.headers is "a b"; allowed: names and values that HTTP can carry',
    ],
    [
      { ...BASE, headers: { Host: 'c' } },
      'options.headers is "Host"; allowed: any header but those of the exchange',
    ],
    [
      { ...BASE, headers: { 'x-n': 1 } },
      'options.headers is "x-n"; allowed: a header whose value is a text',
    ],
    [{ ...BASE, sampleRate: 24_000 }, 'options.sampleRate is unknown; known options are'],
  ])('%j: %s', (options, message) => {
    expect(() => readOpenAiHttpOptions(spec(options))).toThrow(message);
  });

  it.each([
    { ...BASE, apiKey: 'sk-secret' },
    { baseUrl: 'https://user:sk-secret@a/v1' },
    { ...BASE, headers: { Authorization: 'Bearer sk-secret' } },
    { ...BASE, headers: { 'x-key': 'sk-secret\n' } },
  ])('never quote a secret that stands in the wrong place', options => {
    const read = () => readOpenAiHttpOptions(spec(options));
    expect(read).toThrow("Model 'whisper'");
    expect(read).not.toThrow('sk-secret');
  });

  it('of a voice need voices, each listed once, and may tell the rate of its PCM', () => {
    const voices = { alloy: 'af_heart', nova: 'af_heart', onyx: 'am_adam' };
    expect(readOpenAiHttpSpeechOptions(spec(BASE, { kind: 'tts', voices }))).toMatchObject({
      voices: ['af_heart', 'am_adam'],
      sampleRate: 24_000,
    });
    expect(() => readOpenAiHttpSpeechOptions(spec(BASE, { kind: 'tts' }))).toThrow(
      'voices is {}; allowed: at least one',
    );
    expect(() =>
      readOpenAiHttpSpeechOptions(spec({ ...BASE, sampleRate: 96_000 }, { voices })),
    ).toThrow('8000 to 48000');
  });

  it('make an engine that reports what the entry says, within the limit of the upstream', () => {
    const options = { ...BASE, maxConcurrent: 9, maxBatch: 4 };
    const capabilities = ['transcribe', 'prompt', 'stream'];
    expect(createEngine(spec(options, { capabilities, languages: ['en'] })).info).toMatchObject({
      engine: 'openai-http',
      device: 'remote',
      maxBatch: 4,
      maxConcurrent: 2,
      streams: 0,
      capabilities: ['transcribe', 'prompt'],
      languages: ['en'],
    });
    expect(createEngine(spec(BASE, { kind: 'tts', voices: { a: 'b' } })).kind).toBe('tts');
  });
});
