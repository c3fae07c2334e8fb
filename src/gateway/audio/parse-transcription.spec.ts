import { describe, expect, it } from '@jest/globals';
import { FormFields } from '../http/multipart-form.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { parseTranscription } from './parse-transcription.js';

const capabilities = ['diarize', 'chunking', 'known_speakers'];
const model = {
  id: 'm',
  kind: 'stt',
  engine: 'openai-http',
  capabilities,
  languages: [],
};
const catalog = { getOfKind: () => model } as unknown as ModelCatalog;
const chunkingStrategy = (value: unknown) =>
  parseTranscription({ model: 'm', chunking_strategy: value }, catalog).params.chunking;

const DEFAULTS = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 200 };

describe('chunkingStrategy', () => {
  it.each([[undefined], ['auto'], ['"auto"'], ['null']])(
    '%j leaves the cutting to the worker',
    value => {
      expect(chunkingStrategy(value)).toBeUndefined();
    },
  );

  it('takes an object as JSON, with the defaults of OpenAI', () => {
    expect(chunkingStrategy('{"type":"server_vad"}')).toEqual(DEFAULTS);
    expect(chunkingStrategy('{"type":"server_vad","threshold":0.25,"newer":1}')).toEqual(
      {
        ...DEFAULTS,
        threshold: 0.25,
      },
    );
  });

  it('takes an object as bracketed fields of a form', () => {
    const form = new FormFields();
    for (const [key, value] of [
      ['type', 'server_vad'],
      ['silence_duration_ms', '700'],
    ] as const)
      form.add({ fieldname: `chunking_strategy[${key}]`, value, valueTruncated: false });
    expect(chunkingStrategy(form.values.chunking_strategy)).toEqual({
      ...DEFAULTS,
      silenceDurationMs: 700,
    });
  });

  it('refuses both spellings at once', () => {
    const form = new FormFields();
    form.add({ fieldname: 'chunking_strategy', value: 'auto', valueTruncated: false });
    form.add({
      fieldname: 'chunking_strategy[type]',
      value: 'server_vad',
      valueTruncated: false,
    });
    expect(() => chunkingStrategy(form.values.chunking_strategy)).toThrow(
      'must be auto or an object',
    );
  });

  it.each([
    ['[]', 'must be auto or an object'],
    ['7', 'must be auto or an object'],
    [
      '{"type":"semantic_vad"}',
      '`chunking_strategy.type` must be one of server_vad; got "semantic_vad"',
    ],
    [
      '{"type":"server_vad","threshold":2}',
      '`chunking_strategy.threshold` must be a number from 0 to 1; got 2',
    ],
    [
      '{"type":"server_vad","prefix_padding_ms":-1}',
      '`chunking_strategy.prefix_padding_ms` must be a number from 0',
    ],
  ])('refuses %s', (value, message) => {
    expect(() => chunkingStrategy(value)).toThrow(message);
    expect(() => chunkingStrategy(value)).toThrow(
      expect.objectContaining({ param: 'chunking_strategy' }),
    );
  });
});
