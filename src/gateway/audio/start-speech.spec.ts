import { describe, expect, it } from '@jest/globals';
import { turns } from '../../../test/support/live-session.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type SpeechSink } from '../../worker-client/worker-task.js';
import { type InferenceCaller, type InferenceService } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { parseSpeech, startSpeech } from './start-speech.js';

const voiceModel = (changed: Partial<ModelSpec> = {}): ModelCatalog =>
  new ModelCatalog(
    new ModelList([
      {
        id: 'tts',
        kind: 'tts',
        aliases: [],
        capabilities: ['speed'],
        languages: [],
        engine: 'piper',
        voices: { Alloy: 'joe', same: 'amy' },
        ...changed,
      } as unknown as ModelSpec,
    ]),
  );
const BODY = { model: 'tts', input: 'Hi', voice: 'Alloy' };

describe('the voice of a text', () => {
  it.each([
    ['Alloy', 'joe'],
    ['alloy', 'joe'],
    ['SAME', 'amy'],
    ['joe', 'joe'],
  ])('is named by clients, or by its engine: %s', (voice, id) => {
    expect(parseSpeech({ ...BODY, voice }, voiceModel()).voice).toBe(id);
  });

  it('is what the engine knows where the model lists none', () => {
    expect(parseSpeech(BODY, voiceModel({ voices: {} })).voice).toBe('Alloy');
    expect(() => parseSpeech({ ...BODY, voice: 'other' }, voiceModel())).toThrow(
      expect.objectContaining({
        code: 'voice_not_found',
        param: 'voice',
        message: 'The model `tts` has no voice `other`; its voices: Alloy, same.',
      }),
    );
  });
});

describe('a text with tags of SSML', () => {
  const input = '<speak>Hi <break/>there</speak>';

  it('is spoken without them, which is reported', () => {
    const { dto, ignored } = parseSpeech({ ...BODY, input }, voiceModel());
    expect([dto.input, ignored]).toEqual(['Hi there', ['input.ssml']]);
    expect(parseSpeech(BODY, voiceModel(), { strict: true }).ignored).toEqual([]);
  });

  it('is passed on to a server that may know them', () => {
    const { dto, ignored } = parseSpeech({ ...BODY, input }, voiceModel({ engine: 'openai-http' }));
    expect([dto.input, ignored]).toEqual([input, []]);
  });

  it.each([
    [input, { strict: true }],
    ['<speak/>', { strict: false }],
  ])('is refused where nothing may be ignored, or nothing is left: %s', (given, compat) => {
    expect(() => parseSpeech({ ...BODY, input: given }, voiceModel(), compat)).toThrow(
      expect.objectContaining({ param: 'input' }),
    );
  });
});

describe('a synthesis', () => {
  function started(input: string, speed = 1) {
    const given: { work?: { payload: { sink: SpeechSink }; [field: string]: unknown } } = {};
    const inference = {
      start: (_: unknown, work: NonNullable<typeof given.work>) => {
        given.work = work;
        return {};
      },
    } as unknown as InferenceService;
    const params = parseSpeech({ ...BODY, input, speed }, voiceModel());
    const { audio } = startSpeech(inference, {} as InferenceCaller, params);
    return { audio, work: given.work! };
  }

  it('is estimated by its text and its speed', () => {
    expect(started('é'.repeat(45), 1.5).work).toMatchObject({
      model: 'tts',
      bytes: 90,
      audioDurationS: 2,
      payload: { kind: 'synthesize', voice: 'joe', speed: 1.5, format: 'mp3' },
    });
  });

  it('may begin anew at another worker until audio was sent', async () => {
    const { audio, work } = started('Hi');
    const { sink } = work.payload;
    const header = { contentType: 'audio/mpeg', sampleRate: 24_000 };
    sink.header(header);
    sink.header(header);
    audio.write(Buffer.of(1, 2));
    await turns();
    expect(audio.read()).toEqual(Buffer.of(1, 2));
    expect(() => sink.header(header)).toThrow('in the middle of the speech');
  });

  it('that fails is no complete audio', async () => {
    const { audio } = started('Hi');
    const failure = new DomainError('engine_failed', 'cannot');
    const failed = new Promise(resolve => audio.once('error', resolve));
    audio.fail(failure);
    expect(await failed).toBe(failure);
    expect([audio.destroyed, audio.readableEnded]).toEqual([true, false]);
  });
});
