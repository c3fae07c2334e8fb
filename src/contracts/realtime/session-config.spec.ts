import { describe, expect, it } from '@jest/globals';
import { IgnoredFields } from '../openai/ignored-fields.js';
import { defaultSession, readOlderSession, readSession } from './session-config.js';

const CHAT_PATHS = ['session.tracing', 'session.truncation', 'session.max_output_tokens'];
const BASE = defaultSession('whisper-1');
const ga = (session: object) => readSession({ type: 'transcription', ...session }, BASE);
const input = (fields: object) => ga({ audio: { input: fields } });
const output = (fields: object) => ga({ audio: { output: fields } });
const older = (session: object) => readOlderSession(session, BASE);
const refusal = (code: string, param: string) => expect.objectContaining({ code, param });

describe('settings of a session, GA', () => {
  it('keep their value when they are not named', () => {
    expect(ga({})).toEqual(BASE);
    expect(input({ transcription: {} })).toEqual(BASE);
    expect(input({ format: null, turn_detection: undefined })).toEqual(BASE);
  });

  it.each<[string, ReturnType<typeof ga>, object]>([
    ['type', ga({ type: 'realtime' }), { type: 'realtime' }],
    ['model beside the session', ga({ model: 'm' }), { model: 'm' }],
    [
      'transcription',
      input({ transcription: { model: 'm', language: 'de', prompt: 'p' } }),
      { model: 'm', language: 'de', prompt: 'p' },
    ],
    [
      'a language by its English name',
      input({ transcription: { language: 'English' } }),
      { language: 'en' },
    ],
    ['`auto`: none', input({ transcription: { language: 'Auto' } }), { language: '' }],
    [
      'PCM at 8 kHz',
      input({ format: { type: 'audio/pcm', rate: 8000 } }),
      { format: { encoding: 'pcm16', sampleRate: 8000 } },
    ],
    ['PCM without a rate', input({ format: { type: 'audio/pcm' } }), { format: BASE.format }],
    [
      'G.711, 8 kHz by itself',
      input({ format: { type: 'audio/pcma' } }),
      { format: { encoding: 'g711_alaw', sampleRate: 8000 } },
    ],
    ['no turns', input({ turn_detection: null }), { turnDetection: null }],
    [
      'one field of the turns',
      input({ turn_detection: { type: 'server_vad', silence_duration_ms: 200 } }),
      { turnDetection: { ...BASE.turnDetection, silenceDurationMs: 200 } },
    ],
    ['voice by name', output({ voice: 'nova', speed: 1.5 }), { voice: 'nova', speed: 1.5 }],
    ['voice by id', output({ voice: { id: 'slt' } }), { voice: 'slt' }],
    ['what asks for nothing', ga({ instructions: '', tools: [], include: null }), {}],
    ['modalities', ga({ output_modalities: ['text', 'audio'] }), {}],
  ])('%s', (_what, read, change) => {
    expect(read).toEqual({ ...BASE, ...change });
  });

  it.each<[() => unknown, string, string]>([
    [() => readSession('x', BASE), 'invalid_value', 'session'],
    [() => readSession({}, BASE), 'missing_required_parameter', 'session.type'],
    [() => ga({ type: 'chat' }), 'invalid_value', 'session.type'],
    [() => ga({ colour: 'red' }), 'unknown_parameter', 'session.colour'],
    [() => ga({ instructions: 'be nice' }), 'unsupported_parameter', 'session.instructions'],
    [() => ga({ include: ['item.logprobs'] }), 'unsupported_parameter', 'session.include'],
    [
      () => input({ transcription: { keywords: ['x'] } }),
      'unsupported_parameter',
      'session.audio.input.transcription.keywords',
    ],
    [() => ga({ output_modalities: 'audio' }), 'invalid_value', 'session.output_modalities'],
    [() => ga({ model: 'm'.repeat(257) }), 'invalid_value', 'session.model'],
    [() => ga({ audio: { microphone: {} } }), 'unknown_parameter', 'session.audio.microphone'],
    [
      () => input({ format: { type: 'audio/opus' } }),
      'invalid_value',
      'session.audio.input.format.type',
    ],
    [
      () => input({ format: { type: 'audio/pcm', rate: 44_100 } }),
      'invalid_value',
      'session.audio.input.format.rate',
    ],
    [
      () => input({ format: { type: 'audio/pcmu', rate: 16_000 } }),
      'invalid_value',
      'session.audio.input.format.rate',
    ],
    [
      () => input({ transcription: null }),
      'unsupported_parameter',
      'session.audio.input.transcription',
    ],
    [
      () => input({ transcription: { languages: 'en' } }),
      'invalid_value',
      'session.audio.input.transcription.languages',
    ],
    [
      () => input({ transcription: { prompt: 'x'.repeat(4097) } }),
      'invalid_value',
      'session.audio.input.transcription.prompt',
    ],
    [
      () => input({ turn_detection: { type: 'semantic_vad' } }),
      'unsupported_parameter',
      'session.audio.input.turn_detection.type',
    ],
    [
      () => input({ turn_detection: { threshold: 1.1 } }),
      'invalid_value',
      'session.audio.input.turn_detection.threshold',
    ],
    [
      () => input({ turn_detection: { silence_duration_ms: 49 } }),
      'invalid_value',
      'session.audio.input.turn_detection.silence_duration_ms',
    ],
    [
      () => input({ turn_detection: { prefix_padding_ms: 0.5 } }),
      'invalid_value',
      'session.audio.input.turn_detection.prefix_padding_ms',
    ],
    [
      () => input({ turn_detection: { create_response: true } }),
      'unsupported_parameter',
      'session.audio.input.turn_detection.create_response',
    ],
    [
      () => output({ format: { type: 'audio/pcmu' } }),
      'unsupported_parameter',
      'session.audio.output.format.type',
    ],
    [() => output({ speed: 2 }), 'invalid_value', 'session.audio.output.speed'],
  ])('%s is refused where nothing may be ignored: %s at %s', (read, code, param) => {
    expect(read).toThrow(refusal(code, param));
  });

  it.each<[object, string[]]>([
    [{ include: ['item.input_audio_transcription.logprobs'] }, ['session.include']],
    [{ tracing: 'auto', truncation: 'auto', max_output_tokens: 'inf' }, CHAT_PATHS],
    [
      { audio: { input: { noise_reduction: { type: 'near_field' } } } },
      ['session.audio.input.noise_reduction'],
    ],
    [
      { audio: { input: { transcription: { delay: 'low', keywords: ['Ada'] } } } },
      ['session.audio.input.transcription.delay', 'session.audio.input.transcription.keywords'],
    ],
    [
      { audio: { input: { turn_detection: { type: 'semantic_vad', eagerness: 'low' } } } },
      ['session.audio.input.turn_detection.type', 'session.audio.input.turn_detection.eagerness'],
    ],
  ])('%j is accepted, and every field without effect is named', (session, paths) => {
    const ignored = new IgnoredFields();
    expect(readSession({ type: 'transcription', ...session }, BASE, ignored)).toEqual(BASE);
    expect(ignored.paths).toEqual(paths);
    expect(() =>
      readSession({ type: 'transcription', ...session }, BASE, new IgnoredFields(true)),
    ).toThrow(refusal('unsupported_parameter', paths[0]!));
  });
});

describe('settings of a session, older dialect', () => {
  it('are the same ones under other names', () => {
    const read = older({
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'm', language: 'en' },
      turn_detection: null,
      modalities: ['text'],
    });
    const format = { encoding: 'g711_ulaw', sampleRate: 8000 };
    expect(read).toEqual({
      ...BASE,
      format,
      model: 'm',
      language: 'en',
      turnDetection: null,
    });
    expect(older({ input_audio_format: 'pcm16' })).toEqual(BASE);
  });

  it.each<[object, string, string]>([
    [{ input_audio_format: 'mp3' }, 'invalid_value', 'session.input_audio_format'],
    [
      { input_audio_noise_reduction: { type: 'near_field' } },
      'unsupported_parameter',
      'session.input_audio_noise_reduction',
    ],
    [{ audio: {} }, 'unknown_parameter', 'session.audio'],
  ])('%j is refused: %s at %s', (session, code, param) => {
    expect(() => older(session)).toThrow(refusal(code, param));
  });
});
