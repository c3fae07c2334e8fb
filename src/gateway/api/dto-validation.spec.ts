import { describe, expect, it } from '@jest/globals';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { parseDto } from './dto-validation.js';

describe('parseDto', () => {
  it('fills in the defaults of OpenAI', () => {
    expect(parseDto(SpeechDto, { model: 'm', input: 'x', voice: 'v' })).toEqual({
      ...{ model: 'm', input: 'x', voice: 'v', instructions: '', response_format: 'mp3', speed: 1 },
      ...{ stream_format: 'audio', service_tier: 'auto' },
    });
  });

  it('takes null as absent, as SDKs of other languages send it', () => {
    const dto = parseDto(SpeechDto, { model: 'm', input: 'x', voice: 'v', speed: null, instructions: null });
    expect([dto.speed, dto.instructions]).toEqual([1, '']);
  });

  it('reads numbers, flags and lists from the text of a form', () => {
    const form = { model: 'm', temperature: '0.5', stream: 'true', timestamp_granularities: 'word' };
    expect(parseDto(TranscriptionDto, form)).toMatchObject({
      ...{ temperature: 0.5, stream: true, timestamp_granularities: ['word'], include: [] },
    });
  });

  it('counts characters, not UTF-16 units', () => {
    expect(() => parseDto(SpeechDto, { model: 'm', voice: 'v', input: '😀'.repeat(4096) })).not.toThrow();
    expect(() => parseDto(SpeechDto, { model: 'm', voice: 'v', input: '😀'.repeat(4097) })).toThrow('4096 characters');
  });

  it('accepts unknown fields', () => {
    expect(() => parseDto(TranscriptionDto, { model: 'm', newer: { nested: true } })).not.toThrow();
  });

  it.each([
    [{ temperature: 'NaN' }, '`temperature` must be a number from 0 to 1; got "NaN".'],
    [{ temperature: 'Infinity' }, '`temperature` must be a number from 0 to 1; got Infinity.'],
    [{ model: undefined }, '`model` is required: it must be the name of a model.'],
    [
      { response_format: 'xml' },
      '`response_format` must be one of json, text, srt, verbose_json, vtt, diarized_json; got "xml".',
    ],
  ])('%j is told as %s', (fields, message) => {
    expect(() => parseDto(TranscriptionDto, { model: 'm', ...fields })).toThrow(message);
  });
});
