import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { ModelCatalog } from './model-catalog.js';

const model = (
  id: string,
  kind: 'stt' | 'tts',
  aliases: readonly string[] = [],
  capabilities: readonly string[] = [],
): ModelSpec => syntheticModel({}, { id, kind, aliases, capabilities });
const catalog = new ModelCatalog(
  new ModelList([
    model('ears', 'stt', ['whisper-1', 'mouth'], ['transcribe']),
    model('mouth', 'tts', ['tts-1'], ['speech']),
  ]),
);

describe('ModelCatalog', () => {
  it('finds a model by its id and by its aliases', () => {
    expect(catalog.get('ears').id).toBe('ears');
    expect(catalog.get('whisper-1').id).toBe('ears');
  });

  it('never lets an alias hide a model', () => {
    expect(catalog.get('mouth').id).toBe('mouth');
  });

  it('lists ids first, then aliases, each once', () => {
    expect([...catalog.byName].map(([name, spec]) => [name, spec.id])).toEqual([
      ['ears', 'ears'],
      ['mouth', 'mouth'],
      ['whisper-1', 'ears'],
      ['tts-1', 'mouth'],
    ]);
  });

  it('tells what there is when a name is unknown, also one that objects have by nature', () => {
    for (const name of ['whisper-9', 'constructor', '__proto__']) {
      expect(() => catalog.get(name)).toThrow(
        `The model \`${name}\` does not exist; available: ears (whisper-1, mouth), mouth (tts-1).`,
      );
    }
  });

  it('tells which models do the other kind of work', () => {
    expect(() => catalog.getOfKind('tts-1', 'stt')).toThrow(
      'The model `tts-1` does speech synthesis, not speech recognition; models that do: ears (whisper-1, mouth).',
    );
  });

  it('takes a pattern of the kind for names that mean no model, and lists it nowhere', () => {
    const patterns = new ModelCatalog(
      new ModelList([
        model('ears', 'stt', ['*']),
        model('mouth', 'tts', ['tts-*-hd']),
        model('other', 'stt'),
      ]),
    );
    expect(patterns.getOfKind('anything/at.all', 'stt').id).toBe('ears');
    expect(patterns.getOfKind('other', 'stt').id).toBe('other');
    expect(patterns.getOfKind('tts-1-hd', 'tts').id).toBe('mouth');
    for (const name of ['tts-hd', 'tts-1', 'x-tts-1-hd'])
      expect(() => patterns.getOfKind(name, 'tts')).toThrow('does not exist');
    expect(() => patterns.getOfKind('mouth', 'stt')).toThrow('does speech synthesis');
    expect(() => patterns.get('tts-1-hd')).toThrow('does not exist');
    expect([...patterns.byName.keys()]).toEqual(['ears', 'mouth', 'other']);
  });

  it('says none where no model is able', () => {
    expect(catalog.namesAble('stt', 'translate')).toBe('none');
  });
});
