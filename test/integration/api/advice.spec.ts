import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audioForm } from './audio-forms.js';
import { errorOf, expectError, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
type Fields = Record<string, string | string[]>;

let rig: GatewayRig;
beforeAll(async () => {
  const two = { id: 'stt-two', aliases: [], languages: ['en', 'de'], replicas: 1 };
  rig = await GatewayRig.start({
    models: [sttModel({ replicas: 1 }), sttModel(two), ttsModel({ replicas: 1 })],
  });
  await Promise.all(['stt', 'stt-two', 'tts'].map(model => rig.ready(model)));
});
afterAll(() => rig.close());

const post = (fields: Fields, path = TRANSCRIPTIONS) => rig.post(path, audioForm({ fields }));
const ignoredOf = ({ status, headers }: Response) => [status, headers.get('x-switchyard-ignored')];

describe('a field that only advises and that the model cannot use', () => {
  const cases: readonly (readonly [Fields, string])[] = [
    [{ prompt: 'None', temperature: '0.2' }, 'prompt, temperature'],
    [{ hot_words: 'Switchyard', 'keywords[]': 'Switchyard' }, 'hot_words, keywords'],
    [{ 'include[]': 'logprobs' }, 'include'],
    [{ 'include[]': 'logprobs', response_format: 'text' }, 'include'],
    [{ stream: 'true', response_format: 'srt', prompt: 'None' }, 'stream, prompt'],
    [{ stream: 'true', response_format: 'verbose_json' }, 'stream'],
    [{ stream: 'true', prompt: 'None' }, 'prompt'],
  ];
  it.each(cases)('%j is accepted and reported as ignored', async (fields, ignored) => {
    const answer = await post(fields);
    expect(ignoredOf(answer)).toEqual([200, ignored]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-switchyard-ignored');
    const streamed = fields.stream === 'true' && fields.response_format === undefined;
    expect((await answer.text()).startsWith('data: ')).toBe(streamed);
  });

  it('never reaches the worker: the fixture would take the prompt for an order to fail', async () => {
    expect((await post({ prompt: 'fail:engine_failed' })).status).toBe(200);
  });

  it('is reported of a translation and of speech, too', async () => {
    expect(ignoredOf(await post({ prompt: 'None' }, '/v1/audio/translations'))).toEqual([
      200,
      'prompt',
    ]);
    const said = {
      model: 'tts',
      voice: 'alloy',
      input: 'Hello.',
      instructions: 'Whisper.',
    };
    expect(ignoredOf(await rig.post('/v1/audio/speech', said))).toEqual([200, 'instructions']);
  });

  it('is not reported where it was not sent, or is the default', async () => {
    expect(ignoredOf(await post({ temperature: '0', prompt: '' }))).toEqual([200, null]);
  });

  it.each([
    [{ response_format: 'diarized_json' }, 'response_format'],
    [{ 'timestamp_granularities[]': 'word' }, 'timestamp_granularities'],
  ] as const)(
    'does not make %j advice: what changes the meaning is refused',
    async (fields, param) => {
      await expectError(post(fields), { status: 400, param });
    },
  );
});

describe('languages', () => {
  it.each([
    ['stt', { language: 'auto' }, null],
    ['stt', { language: 'English' }, null],
    ['stt', { 'languages[]': ['en', 'de'] }, null],
    ['stt-two', { 'languages[]': ['fr', 'de'] }, null],
    ['stt-two', { 'languages[]': ['en', 'de'] }, 'languages'],
    ['stt-two', { language: 'german', 'languages[]': 'en' }, 'languages'],
  ])('%s takes %j', async (model, fields, ignored) => {
    expect(ignoredOf(await post({ model, ...fields }))).toEqual([200, ignored]);
  });

  it('that the model does not recognise are refused: none of them would be spoken to it', async () => {
    const error = await errorOf(post({ 'languages[]': ['de', 'fr'] }));
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'languages',
    });
    await expectError(post({ language: 'german' }), {
      code: 'invalid_value',
      param: 'language',
    });
  });
});

it('a voice is found in any case of letters', async () => {
  const answer = await rig.post('/v1/audio/speech', {
    model: 'tts',
    voice: 'Alloy',
    input: 'Hello.',
  });
  expect(answer.status).toBe(200);
});
