import { describe, expect, it } from '@jest/globals';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { AsrQueryDto } from '../../contracts/whisper-asr/asr.dto.js';
import { ModelList } from '../../platform/config/config.module.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { parseAsr } from './parse-asr.js';

const stt = (id: string, capabilities: readonly string[]) =>
  syntheticModel({}, { id, capabilities, languages: ['en', 'de'] });
const catalog = new ModelCatalog(
  new ModelList([
    stt('able', ['transcribe', 'translate', 'prompt', 'word_timestamps']),
    stt('plain', ['transcribe']),
  ]),
);
const parsed = (fields: Partial<AsrQueryDto>, strict = false) =>
  parseAsr(Object.assign(new AsrQueryDto(), { model: 'able' }, fields), catalog, { strict });

const words = [{ word: 'One', start: 0.0004, end: 0.5 }];
const segment = (id: number, text: string) => ({ id, text, start: id * 1.0006, end: id + 1.0004 });
const TRANSCRIPT = {
  text: 'One. Two.',
  language: 'en',
  durationS: 2,
  words,
  segments: [segment(0, ' One.\t'), segment(1, ' Two\nmore.')],
} as unknown as Transcript;
const bodyOf = (fields: Partial<AsrQueryDto>): string => {
  const { contentType, body } = parsed(fields).write!(TRANSCRIPT);
  expect(contentType).toBe('text/plain; charset=utf-8');
  return String(body);
};

describe('an answer of whisper-asr-webservice', () => {
  it('is text, subtitles or a table', () => {
    expect(bodyOf({})).toBe('One.\nTwo\nmore.\n');
    expect(bodyOf({ output: 'srt' })).toContain('00:00:00,000 --> 00:00:01,000');
    expect(bodyOf({ output: 'vtt' })).toMatch(/^WEBVTT/);
    expect(bodyOf({ output: 'tsv' })).toBe(
      'start\tend\ttext\n0\t1000\tOne.\n1001\t2000\tTwo more.\n',
    );
  });

  it('is JSON, with words where they are asked for', () => {
    const plain = JSON.parse(bodyOf({ output: 'json' })) as object;
    expect(plain).toMatchObject({ text: 'One. Two.', language: 'en' });
    expect(plain).not.toHaveProperty('words');
    expect(JSON.parse(bodyOf({ output: 'json', word_timestamps: true }))).toMatchObject({
      words: [{ word: 'One' }],
      segments: [{ id: 0 }, { id: 1 }],
    });
  });
});

describe('a query of whisper-asr-webservice', () => {
  it('is a transcription or a translation', () => {
    const transcribed = parsed({ language: 'de', initial_prompt: 'Names' });
    expect(transcribed.params).toMatchObject({
      task: 'transcribe',
      language: 'de',
      prompt: 'Names',
      wordTimestamps: false,
    });
    expect(parsed({ task: 'translate', language: 'de' }).params).toMatchObject({
      task: 'translate',
      language: '',
    });
    const timed = parsed({ output: 'json', word_timestamps: true });
    expect([timed.params.wordTimestamps, timed.ignored]).toEqual([true, []]);
  });

  it.each([
    [{ vad_filter: true }, 'vad_filter'],
    [{ word_timestamps: true, output: 'srt' as const }, 'word_timestamps'],
    [{ model: 'plain', initial_prompt: 'Names' }, 'initial_prompt'],
  ])('names what has no effect as it was sent: %j', (fields, param) => {
    expect(parsed(fields).ignored).toEqual([param]);
    expect(() => parsed(fields, true)).toThrow(expect.objectContaining({ param }));
  });

  it('names what is wrong as it was sent', () => {
    const fields = { model: 'plain', word_timestamps: true, output: 'json' } as const;
    expect(() => parsed(fields)).toThrow(
      expect.objectContaining({
        code: 'unsupported_parameter',
        param: 'word_timestamps',
        message: expect.stringContaining('`word_timestamps`'),
      }),
    );
    expect(() => parsed({ word_timestamps: true }, true)).toThrow(
      '`word_timestamps` needs output=json.',
    );
    expect(() => parsed({ vad_filter: true }, true)).toThrow('speech is found by the worker');
  });
});
