import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { script } from '../../support/fixture-worker.js';
import { wav } from './audio-forms.js';
import { expectError, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';

let rig: GatewayRig;
beforeAll(async () => {
  const able = {
    id: 'able',
    aliases: [],
    capabilities: ['transcribe', 'prompt', 'word_timestamps'],
  };
  rig = await GatewayRig.start({
    models: [sttModel({ replicas: 1 }), sttModel({ ...able, replicas: 1 }), ttsModel()],
    settings: { 'compat.asr_model': 'able' },
  });
  await Promise.all(['stt', 'able'].map(model => rig.ready(model)));
});
afterAll(() => rig.close());

const SAID = script.say('one two', 'three');
const form = (audio: Buffer = wav(1), part = 'audio_file'): FormData => {
  const body = new FormData();
  body.append(part, new Blob([new Uint8Array(audio)]), 'film.mkv');
  return body;
};
const query = (fields: Record<string, string>): string =>
  `?${new URLSearchParams(fields).toString()}`;
const asr = (fields: Record<string, string> = {}, audio?: Buffer) =>
  rig.post(`/asr${query(fields)}`, form(audio));

describe('POST /asr', () => {
  it.each([
    ['txt', 'one two\nthree\n'],
    [
      'srt',
      '1\n00:00:00,000 --> 00:00:01,000\none two\n\n2\n00:00:01,000 --> 00:00:02,000\nthree\n\n',
    ],
    [
      'vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\none two\n\n00:00:01.000 --> 00:00:02.000\nthree\n\n',
    ],
    ['tsv', 'start\tend\ttext\n0\t1000\tone two\n1000\t2000\tthree\n'],
  ])('answers %s as whisper-asr-webservice does', async (output, expected) => {
    const answer = await asr({ output, initial_prompt: SAID, language: 'english' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; charset=utf-8',
    ]);
    expect(await answer.text()).toBe(expected);
  });

  it('answers JSON with segments, the language, and words where they are wanted', async () => {
    const answer = await asr({
      output: 'json',
      initial_prompt: SAID,
      language: 'en',
      word_timestamps: 'true',
    });
    const body = (await answer.json()) as {
      text: string;
      segments: unknown[];
      words: unknown[];
    };
    expect(body).toMatchObject({
      segments: [{ text: 'one two' }, { text: 'three' }],
      language: 'en',
    });
    expect(body.words).toHaveLength(3);
  });

  it.each<[Record<string, string>, string]>([
    [{ vad_filter: 'true' }, 'vad_filter'],
    [{ model: 'stt', initial_prompt: 'names' }, 'initial_prompt'],
    [{ word_timestamps: 'true' }, 'word_timestamps'],
    [{ diarize: 'true', hotwords: '' }, 'diarize'],
  ])('%j only advises: accepted and reported', async (fields, ignored) => {
    const answer = await asr(fields);
    expect([answer.status, answer.headers.get('x-switchyard-ignored')]).toEqual([200, ignored]);
  });

  it.each<[Record<string, string>, string, string]>([
    [{ output: 'ass' }, 'invalid_value', 'output'],
    [{ task: 'sing' }, 'invalid_value', 'task'],
    [{ encode: 'maybe' }, 'invalid_value', 'encode'],
    [{ language: 'klingon!' }, 'invalid_value', 'language'],
    [{ language: 'de' }, 'invalid_value', 'language'],
    [{ model: 'nope' }, 'model_not_found', 'model'],
    [{ model: 'tts' }, 'model_kind_mismatch', 'model'],
  ])('refuses %j before the audio is taken in', async (fields, code, param) => {
    await expectError(asr(fields), { code, param });
    expect(await rig.spooled()).toEqual([]);
  });

  it.each<[string, FormData, string]>([
    ['a part of another name', form(wav(1), 'file'), 'missing_required_parameter'],
    ['no audio', new FormData(), 'missing_required_parameter'],
    ['empty audio', form(Buffer.alloc(0)), 'empty_file'],
  ])('refuses %s', async (_what, body, code) => {
    await expectError(rig.post('/asr', body), {
      code,
      param: 'audio_file',
    });
  });
});

describe('POST /detect-language', () => {
  it('tells name and code of the language', async () => {
    const url = '/detect-language?encode=false&hotwords=x';
    const answer = await rig.post(url, form(Buffer.alloc(64_000)));
    expect(answer.headers.get('x-switchyard-ignored')).toBe('hotwords');
    expect(await answer.json()).toEqual({
      detected_language: 'english',
      language_code: 'en',
      confidence: null,
    });
  });

  it('refuses what /asr refuses', async () => {
    await expectError(rig.post('/detect-language?model=nope', form()), {
      code: 'model_not_found',
    });
  });
});

describe('GET /v1/audio/voices', () => {
  it('lists the voices of all speech models, or of one', async () => {
    const voices = ['alloy', 'nova'].map(id => ({ id, name: id, model: 'tts' }));
    expect(await rig.json('/v1/audio/voices')).toEqual({ voices });
    expect(await rig.json('/v1/audio/voices?model=tts-1')).toEqual({ voices });
  });

  it.each([
    ['model=nope', 'model_not_found'],
    ['model=stt', 'model_kind_mismatch'],
    ['model=a&model=b', 'invalid_value'],
  ])('refuses %s', async (asked, code) => {
    await expectError(fetch(`${rig.url}/v1/audio/voices?${asked}`), {
      code,
      param: 'model',
    });
  });
});
