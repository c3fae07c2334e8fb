import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audioForm } from './audio-forms.js';
import { errorOf, expectError, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';

let rig: GatewayRig;
beforeAll(async () => {
  const multilingual = { languages: ['en', 'de'], aliases: [] };
  rig = await GatewayRig.start({
    // What only advises is refused, too; advice.spec.ts shows what else becomes of it.
    settings: { 'compat.strict': true },
    models: [
      sttModel(),
      sttModel({ id: 'stt-de', ...multilingual }),
      sttModel({
        id: 'stt-any',
        ...multilingual,
        capabilities: ['transcribe', 'translate', 'prompt', 'temperature'],
      }),
      ttsModel(),
      ttsModel({ id: 'tts-flat', aliases: [], capabilities: ['speech'] }),
    ],
  });
});
afterAll(() => rig.close());

async function refused(path: string, fields: Record<string, string | string[]>) {
  return errorOf(await rig.post(path, audioForm({ fields })));
}

describe('a transcription field that cannot be honoured is rejected, naming field, value and what is allowed', () => {
  const cases: readonly (readonly [
    string,
    Record<string, string | string[]>,
    number,
    string,
    string,
  ])[] = [
    ['an unknown model', { model: 'whisper-9' }, 404, 'model_not_found', 'model'],
    ['no model', { model: '' }, 400, 'missing_required_parameter', 'model'],
    ['a TTS model', { model: 'tts-1' }, 400, 'model_kind_mismatch', 'model'],
    ['two models', { model: ['stt', 'stt'] }, 400, 'invalid_value', 'model'],
    [
      'an unknown response_format',
      { response_format: 'xml' },
      400,
      'invalid_value',
      'response_format',
    ],
    [
      'diarized_json',
      { response_format: 'diarized_json' },
      400,
      'unsupported_parameter',
      'response_format',
    ],
    ['temperature above 1', { temperature: '1.5' }, 400, 'invalid_value', 'temperature'],
    ['temperature below 0', { temperature: '-1' }, 400, 'invalid_value', 'temperature'],
    ['temperature as a word', { temperature: 'hot' }, 400, 'invalid_value', 'temperature'],
    [
      'temperature without sampling',
      { temperature: '0.4' },
      400,
      'unsupported_parameter',
      'temperature',
    ],
    ['a prompt nobody reads', { prompt: 'Switchyard' }, 400, 'unsupported_parameter', 'prompt'],
    // prettier-ignore
    ['an unknown granularity', { 'timestamp_granularities[]': 'phone', response_format: 'verbose_json' },
      400, 'invalid_value', 'timestamp_granularities'],
    // prettier-ignore
    ['granularities without verbose_json', { 'timestamp_granularities[]': 'word' },
      400, 'invalid_value', 'timestamp_granularities'],
    // prettier-ignore
    ['word times of a model without them',
      { model: 'stt-any', timestamp_granularities: 'word', response_format: 'verbose_json' },
      400, 'unsupported_parameter', 'timestamp_granularities'],
    ['a language the model does not know', { language: 'fr' }, 400, 'invalid_value', 'language'],
    [
      'languages the model does not know',
      { 'languages[]': ['de', 'fr'] },
      400,
      'invalid_value',
      'languages',
    ],
    ['a language that is none', { language: '!!' }, 400, 'invalid_value', 'language'],
    [
      'log probabilities of a model without them',
      { 'include[]': 'logprobs' },
      400,
      'unsupported_parameter',
      'include',
    ],
    // prettier-ignore
    ['log probabilities in another format', { 'include[]': 'logprobs', response_format: 'text' },
      400, 'invalid_value', 'include'],
    ['an unknown inclusion', { 'include[]': 'everything' }, 400, 'invalid_value', 'include'],
    [
      'an unknown chunking strategy',
      { chunking_strategy: 'clever' },
      400,
      'invalid_value',
      'chunking_strategy',
    ],
    // prettier-ignore
    ['speaker names without diarized_json', { 'known_speaker_names[]': 'Ada' },
      400, 'invalid_value', 'known_speaker_names'],
    [
      'hot words nobody hears',
      { hot_words: 'Switchyard' },
      400,
      'unsupported_parameter',
      'hot_words',
    ],
    [
      'keywords nobody hears',
      { 'keywords[]': 'Switchyard' },
      400,
      'unsupported_parameter',
      'keywords',
    ],
    // prettier-ignore
    ['101 hot words', { hot_words: Array.from({ length: 101 }, (_, i) => `w${i}`).join() },
      400, 'invalid_value', 'hot_words'],
    [
      'a hot word of 101 characters',
      { hot_words: 'a'.repeat(101) },
      400,
      'invalid_value',
      'hot_words',
    ],
    [
      'subtitles as a stream',
      { stream: 'true', response_format: 'srt' },
      400,
      'invalid_value',
      'stream',
    ],
    ['stream as a word', { stream: 'maybe' }, 400, 'invalid_value', 'stream'],
    ['an unknown tier', { service_tier: 'gold' }, 400, 'invalid_value', 'service_tier'],
  ];

  it.each(cases)('%s', async (_name, fields, status, code, param) => {
    expect(await refused(TRANSCRIPTIONS, fields)).toMatchObject({
      status,
      code,
      param,
      type: 'invalid_request_error',
    });
  });

  it('tells the allowed range and the value given', async () => {
    const { message } = await refused(TRANSCRIPTIONS, { temperature: '1.5' });
    expect(message).toBe('`temperature` must be a number from 0 to 1; got 1.5.');
  });

  it('is marked as not worth a retry', async () => {
    const { headers } = await refused(TRANSCRIPTIONS, { model: 'whisper-9' });
    expect(headers.get('x-should-retry')).toBe('false');
    expect(headers.get('openai-processing-ms')).toMatch(/^\d+$/);
  });

  it('leaves nothing in the spool', async () => {
    expect(await rig.spooled()).toEqual([]);
  });
});

describe('a translation', () => {
  it('by a model that cannot translate is refused, naming the models that can', async () => {
    const error = await refused(TRANSLATIONS, { model: 'stt-de' });
    expect(error).toMatchObject({
      status: 400,
      code: 'unsupported_task',
      param: 'model',
    });
    expect(error.message).toContain('models that can: stt-any.');
  });

  it('has speakers of models that tell them apart', async () => {
    const error = await refused(TRANSLATIONS, { response_format: 'diarized_json' });
    expect(error).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'response_format',
    });
  });
});

describe('a field of speech that cannot be honoured is refused', () => {
  const cases: readonly (readonly [string, Record<string, unknown>, number, string, string])[] = [
    ['5,000 characters', { input: 'a'.repeat(5000) }, 400, 'invalid_value', 'input'],
    ['no input', { input: undefined }, 400, 'missing_required_parameter', 'input'],
    ['an empty input', { input: '' }, 400, 'missing_required_parameter', 'input'],
    ['only spaces', { input: ' \n ' }, 400, 'invalid_value', 'input'],
    ['an unknown voice', { voice: 'darth' }, 400, 'voice_not_found', 'voice'],
    ['an unknown voice object', { voice: { id: 'darth' } }, 400, 'voice_not_found', 'voice'],
    ['no voice', { voice: undefined }, 400, 'missing_required_parameter', 'voice'],
    ['a number for a voice', { voice: 7 }, 400, 'invalid_value', 'voice'],
    ['an STT model', { model: 'whisper-1' }, 400, 'model_kind_mismatch', 'model'],
    ['an unknown model', { model: 'tts-9' }, 404, 'model_not_found', 'model'],
    ['speed 5', { speed: 5 }, 400, 'invalid_value', 'speed'],
    ['speed as text', { speed: '1' }, 400, 'invalid_value', 'speed'],
    [
      'speed by a model without it',
      { model: 'tts-flat', speed: 2 },
      400,
      'unsupported_parameter',
      'speed',
    ],
    ['instructions', { instructions: 'whisper it' }, 400, 'unsupported_parameter', 'instructions'],
    ['an unknown format', { response_format: 'm4a' }, 400, 'invalid_value', 'response_format'],
    [
      'an unknown stream format',
      { stream_format: 'ndjson' },
      400,
      'invalid_value',
      'stream_format',
    ],
  ];

  it.each(cases)('%s', async (_name, fields, status, code, param) => {
    const response = await rig.post('/v1/audio/speech', {
      model: 'tts',
      voice: 'alloy',
      input: 'Hello.',
      ...fields,
    });
    await expectError(response, { status, code, param });
  });

  it('says how long a long input was instead of repeating it', async () => {
    const body = { model: 'tts', voice: 'alloy', input: 'a'.repeat(5000) };
    const { message } = await errorOf(await rig.post('/v1/audio/speech', body));
    expect(message).toMatch(
      /^`input` must be text of at most 4096 characters; got "a+… \(5000 characters\)\.$/,
    );
  });

  it('lists the voices when one is unknown', async () => {
    const body = { model: 'tts', voice: 'darth', input: 'Hello.' };
    expect((await errorOf(await rig.post('/v1/audio/speech', body))).message).toContain(
      'alloy, nova',
    );
  });
});

describe('headers', () => {
  it.each(['urgent', ''])('X-Priority %j is refused', async value => {
    const response = await rig.post(TRANSCRIPTIONS, audioForm(), {
      headers: { 'x-priority': value },
    });
    await expectError(response, {
      status: 400,
      code: 'invalid_value',
      param: 'X-Priority',
    });
  });

  it.each(['a b', 'x'.repeat(129), '<script>'])(
    'X-Request-Id %j is refused, and the answer has another id',
    async id => {
      const error = await errorOf(
        await rig.post(TRANSCRIPTIONS, audioForm(), { headers: { 'x-request-id': id } }),
      );
      expect(error).toMatchObject({
        status: 400,
        code: 'invalid_value',
        param: 'X-Request-Id',
      });
      expect(error.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    },
  );

  it('a usable X-Request-Id comes back, also on an error', async () => {
    const headers = { 'x-request-id': 'my:id-1' };
    const response = rig.post(TRANSCRIPTIONS, audioForm({ fields: { model: 'no' } }), {
      headers,
    });
    expect((await errorOf(response)).headers.get('x-request-id')).toBe('my:id-1');
  });
});
