import { describe, expect, it } from '@jest/globals';
import { FormFields, MAX_REFERENCE_BYTES } from '../http/multipart-form.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { parseTranscription, parseTranslation } from './parse-transcription.js';

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
    expect(chunkingStrategy('{"type":"server_vad","threshold":0.25,"newer":1}')).toEqual({
      ...DEFAULTS,
      threshold: 0.25,
    });
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

const url = (bytes: Uint8Array) => `data:audio/wav;base64,${Buffer.from(bytes).toString('base64')}`;
const knownSpeakers = (names: readonly string[], references: readonly string[]) =>
  parseTranscription(
    {
      model: 'm',
      response_format: 'diarized_json',
      known_speaker_names: names,
      known_speaker_references: references,
    },
    catalog,
  ).params.knownSpeakers;

describe('knownSpeakers', () => {
  it('pairs names with the audio of their data URLs', () => {
    expect(knownSpeakers(['Ada', 'Bob'], [url(Buffer.from('one')), 'data:;base64,dHdv'])).toEqual([
      { name: 'Ada', reference: Buffer.from('one') },
      { name: 'Bob', reference: Buffer.from('two') },
    ]);
    expect(knownSpeakers([], [])).toEqual([]);
    expect(
      knownSpeakers(['Ada'], [url(Buffer.alloc(MAX_REFERENCE_BYTES))])[0]?.reference,
    ).toHaveLength(MAX_REFERENCE_BYTES);
  });

  it.each([
    [
      'a name without a voice',
      ['Ada'],
      [],
      'must come in pairs; got 1 and 0',
      'known_speaker_references',
    ],
    [
      'a voice without a name',
      [],
      [url(Buffer.from('a'))],
      'must come in pairs; got 0 and 1',
      'known_speaker_names',
    ],
    // prettier-ignore
    ['a name twice', ['A', 'A'], [url(Buffer.from('a')), url(Buffer.from('b'))], 'names[1]` must differ',
      'known_speaker_names'],
    [
      'a link',
      ['A'],
      ['https://example.com/a.wav'],
      'references[0]` must be a data URL',
      'known_speaker_references',
    ],
    // prettier-ignore
    ['a data URL of text', ['A'], ['data:audio/wav,abc'], 'references[0]` must be a data URL',
      'known_speaker_references'],
    // prettier-ignore
    ['what is no base64', ['A'], ['data:audio/wav;base64,§§§§'], 'must hold audio in base64',
      'known_speaker_references'],
    [
      'nothing',
      ['A'],
      ['data:audio/wav;base64,'],
      'must hold audio in base64',
      'known_speaker_references',
    ],
    // prettier-ignore
    ['2 MiB and more', ['A'], [url(Buffer.alloc(MAX_REFERENCE_BYTES + 3))], 'at most 2097152 bytes',
      'known_speaker_references'],
  ])('refuses %s, naming it', (_what, names, references, message, param) => {
    expect(() => knownSpeakers(names, references)).toThrow(message);
    expect(() => knownSpeakers(names, references)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param }),
    );
  });
});

describe('fields of a form', () => {
  it('are also what Python and POSIX write', () => {
    const { params, answer } = parseTranscription(
      { model: 'm', language: 'en_GB', stream: 'True' },
      catalog,
    );
    expect([params.language, answer.stream]).toEqual(['en-GB', true]);
  });
});

/** A model that the request names; `namesAble` is what error messages list. */
const catalogOf = (changed: object): ModelCatalog =>
  ({
    getOfKind: () => ({ ...model, ...changed }),
    namesAble: () => 'none',
  }) as unknown as ModelCatalog;
const ENGLISH = { languages: ['en', 'en-GB'], engine: 'whisper' };
const refusal = (param: string) => expect.objectContaining({ param });

describe('languages of a transcription', () => {
  const europe = catalogOf({ languages: ['en', 'de'] });

  it.each([
    [{}, undefined, []],
    [{ language: 'de' }, 'de', []],
    [{ language: 'de', languages: ['en'] }, 'de', ['languages']],
    [{ languages: ['fr', 'de'] }, 'de', []],
    [{ languages: ['en', 'de'] }, undefined, ['languages']],
  ])('%j: the model gets one, or detects it', (fields, language, ignored) => {
    const parsed = parseTranscription({ model: 'm', ...fields }, europe);
    expect([parsed.params.language, parsed.ignored]).toEqual([language ?? '', ignored]);
    const known = language === undefined ? ['en', 'de'] : [language];
    expect(parsed.itn.languages).toEqual(known);
  });

  it.each([
    [{ language: 'fr' }, 'language'],
    [{ languages: ['fr'] }, 'languages'],
  ])('%j: others are refused', (fields, param) => {
    expect(() => parseTranscription({ model: 'm', ...fields }, europe)).toThrow(refusal(param));
  });
});

describe('fields that act in some formats', () => {
  it.each([
    ['timestamp_granularities', ['word'], 'verbose_json', 'json'],
    ['known_speaker_names', ['A'], undefined, 'json'],
    ['known_speaker_references', ['A'], undefined, 'text'],
  ])('are refused in others where they change the answer: %s', (param, value, fitting, other) => {
    const parse = (format: string) =>
      parseTranscription(
        { model: 'm', [param]: value, response_format: format },
        catalogOf({
          capabilities: [...capabilities, 'word_timestamps'],
        }),
      );
    expect(() => parse(other)).toThrow(refusal(param));
    if (fitting) expect(parse(fitting).answer.granularities).toEqual(value);
  });

  it.each([
    ['stream', 'true', 'srt'],
    ['include', ['logprobs'], 'text'],
  ])('are ignored in others where they only advise: %s', (param, value, format) => {
    const able = catalogOf({ capabilities: ['logprobs'] });
    const fields = { model: 'm', [param]: value, response_format: format };
    const { ignored, answer } = parseTranscription(fields, able);
    expect([ignored, answer]).toEqual([
      [param],
      { task: 'transcribe', format, stream: false, granularities: ['segment'] },
    ]);
    expect(() => parseTranscription(fields, able, { strict: true })).toThrow(refusal(param));
    expect(parseTranscription({ ...fields, response_format: 'json' }, able).ignored).toEqual([]);
  });
});

describe('what a model cannot use', () => {
  it('is ignored with notice, and has its default', () => {
    const fields = { model: 'm', prompt: 'Names' };
    const plain = parseTranscription(fields, catalogOf({ engine: 'whisper' }));
    expect([plain.ignored, plain.params.prompt]).toEqual([['prompt'], '']);
    const able = parseTranscription(fields, catalogOf({ capabilities: ['prompt'] }));
    expect([able.ignored, able.params.prompt]).toEqual([[], 'Names']);
  });
});

describe('numbers of a transcript', () => {
  it.each([
    [{}, {}, false, false],
    [{}, { itn: true }, true, false],
    [{ itn: 'true' }, {}, true, true],
    [{ itn: 'false' }, { itn: true }, false, false],
  ])('are written as the request says, or the model: %j %j', (fields, spec, wanted, demanded) => {
    const { itn } = parseTranscription({ model: 'm', ...fields }, catalogOf(spec));
    expect(itn).toEqual({ wanted, demanded, languages: [] });
  });
});

describe('a translation', () => {
  it.each([
    [{ capabilities: ['translate'] }, 'translate'],
    [{ ...ENGLISH, languages: ['en'] }, 'transcribe'],
    [ENGLISH, 'transcribe'],
  ])('is made by a model that translates, or knows English only: %j', (changed, task) => {
    const fields = { model: 'm', response_format: 'verbose_json' };
    const { params, answer, itn } = parseTranslation(fields, catalogOf(changed));
    expect([params.task, params.diarize, itn.languages]).toEqual([task, false, ['en']]);
    expect(answer).toEqual({
      task: 'translate',
      format: 'verbose_json',
      stream: false,
      granularities: ['segment'],
    });
  });

  it.each([[[]], [['en', 'de']], [['eng']]])(
    'is refused by a model of other languages: %j',
    languages => {
      expect(() => parseTranslation({ model: 'm' }, catalogOf({ languages }))).toThrow(
        expect.objectContaining({ code: 'unsupported_task', param: 'model' }),
      );
    },
  );

  it('tells speakers apart in the format that shows them', () => {
    const able = catalogOf({ capabilities: ['translate', 'diarize'] });
    const fields = { model: 'm', response_format: 'diarized_json' };
    expect(parseTranslation(fields, able).params.diarize).toBe(true);
  });
});
