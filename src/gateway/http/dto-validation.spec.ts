import { describe, expect, it } from '@jest/globals';
import { BatchWebhookDto } from '../../contracts/openai/batch-webhook.dto.js';
import { BatchCreateDto } from '../../contracts/openai/batch.dto.js';
import { ChatCompletionDto } from '../../contracts/openai/chat-completion.dto.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { parseDto, parseStrictDto } from './dto-validation.js';

describe('parseDto', () => {
  it('fills in the defaults of OpenAI', () => {
    expect(parseDto(SpeechDto, { model: 'm', input: 'x', voice: 'v' })).toEqual({
      model: 'm',
      input: 'x',
      voice: 'v',
      instructions: '',
      response_format: 'mp3',
      speed: 1,
      stream_format: 'audio',
      service_tier: 'auto',
    });
  });

  it('takes null as absent, as SDKs of other languages send it', () => {
    const dto = parseDto(SpeechDto, {
      model: 'm',
      input: 'x',
      voice: 'v',
      speed: null,
      instructions: null,
    });
    expect([dto.speed, dto.instructions]).toEqual([1, '']);
  });

  it('reads numbers, flags and lists from the text of a form', () => {
    const form = {
      model: 'm',
      temperature: '0.5',
      stream: 'true',
      timestamp_granularities: 'word',
    };
    expect(parseDto(TranscriptionDto, form)).toMatchObject({
      temperature: 0.5,
      stream: true,
      timestamp_granularities: ['word'],
      include: [],
    });
  });

  it('counts characters, not UTF-16 units', () => {
    expect(() =>
      parseDto(SpeechDto, { model: 'm', voice: 'v', input: '😀'.repeat(4096) }),
    ).not.toThrow();
    expect(() => parseDto(SpeechDto, { model: 'm', voice: 'v', input: '😀'.repeat(4097) })).toThrow(
      '4096 characters',
    );
  });

  it.each([
    ['x'.repeat(99), `"${'x'.repeat(79)}… (99 characters)`],
    [Array.from({ length: 99 }, () => 1), `[${'1,'.repeat(39)}1… (199 characters of JSON)`],
  ])('shows the beginning of a long value, and how long it is', (speed, shown) => {
    expect(() => parseDto(SpeechDto, { model: 'm', voice: 'v', input: 'x', speed })).toThrow(shown);
  });

  it('leaves what was sent as it is: a field is looked at, not copied', () => {
    const messages = Array.from({ length: 200_000 }, () => ({}));
    expect(parseDto(ChatCompletionDto, { model: 'm', messages }).messages).toBe(messages);
  });

  it.each([parseDto, parseStrictDto])('%p looks at no field that the DTO does not have', parse => {
    const own = { input: 'x', voice: 'v', model: 'm' };
    let looked = 0;
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`key ${index}`, index]),
    );
    const counting = new Proxy<Record<string, unknown>>(
      { ...own, ...many },
      { get: (target, name) => ((looked += 1), target[String(name)]) },
    );
    const outcome = (() => {
      try {
        return parse(SpeechDto, counting).model;
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(outcome).toBe(parse === parseDto ? 'm' : '`key 0` is not known here.');
    expect(looked).toBeLessThan(20);
  });

  it('makes nested objects, with their own rules', () => {
    const batch = {
      input_file_id: 'f',
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    };
    expect(parseDto(BatchCreateDto, { ...batch, webhook: { url: 'u' } }).webhook).toBeInstanceOf(
      BatchWebhookDto,
    );
    expect(() => parseDto(BatchCreateDto, { ...batch, webhook: { url: 5 } })).toThrow(
      '`webhook.url` must be text',
    );
    expect(() => parseDto(BatchCreateDto, { ...batch, webhook: [] })).toThrow(
      '`webhook` must be {url}',
    );
  });

  it.each(['__proto__', 'constructor'])(
    'takes no %s, which would change whose rules hold',
    name => {
      const fields: unknown = JSON.parse(`{"model":"m","input":"x","voice":5,"${name}":{}}`);
      expect(() => parseDto(SpeechDto, fields as Record<string, unknown>)).toThrow(
        '`voice` must be a voice name',
      );
    },
  );

  it('accepts unknown fields', () => {
    expect(() => parseDto(TranscriptionDto, { model: 'm', newer: { nested: true } })).not.toThrow();
  });

  it.each([
    [{ temperature: 'NaN' }, '`temperature` must be a number from 0 to 1; got "NaN".'],
    [{ temperature: 'Infinity' }, '`temperature` must be a number from 0 to 1; got "Infinity".'],
    [{ model: undefined }, '`model` is required: it must be the name of a model.'],
    [
      { response_format: 'xml' },
      '`response_format` must be one of json, text, srt, verbose_json, vtt, diarized_json; got "xml".',
    ],
  ])('%j is told as %s', (fields, message) => {
    expect(() => parseDto(TranscriptionDto, { model: 'm', ...fields })).toThrow(message);
  });
});
