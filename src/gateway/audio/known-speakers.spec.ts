import { describe, expect, it } from '@jest/globals';
import { MAX_REFERENCE_BYTES } from '../http/multipart-form.js';
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

const url = (bytes: Uint8Array) =>
  `data:audio/wav;base64,${Buffer.from(bytes).toString('base64')}`;
const parse = (names: readonly string[], references: readonly string[]) =>
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
    expect(
      parse(['Ada', 'Bob'], [url(Buffer.from('one')), 'data:;base64,dHdv']),
    ).toEqual([
      { name: 'Ada', reference: Buffer.from('one') },
      { name: 'Bob', reference: Buffer.from('two') },
    ]);
    expect(parse([], [])).toEqual([]);
    expect(
      parse(['Ada'], [url(Buffer.alloc(MAX_REFERENCE_BYTES))])[0]?.reference,
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
    expect(() => parse(names, references)).toThrow(message);
    expect(() => parse(names, references)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param }),
    );
  });
});
