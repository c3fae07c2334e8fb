import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { EnglishNormalizer } from './english/english-normalizer.js';
import { NormalizerRegistry } from './normalizer-registry.js';
import { WrittenForm } from './written-form.js';

const broken = {
  language: 'xx',
  normalize: (): string => {
    throw new Error('a defect');
  },
};
const transcript = (language: string) => ({ text: 'twenty five', language, durationS: 1, segments: [], words: [] });
const order = (languages: readonly string[], wanted = true) => ({ wanted, demanded: wanted, languages });

let logged: jest.SpiedFunction<Logger['error']>;
let form: WrittenForm;
beforeEach(() => {
  logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  form = new WrittenForm(new NormalizerRegistry([new EnglishNormalizer(), broken]));
});
afterEach(() => logged.mockRestore());

describe('WrittenForm', () => {
  it.each([
    ['the one language of the model', ['en'], '', '25'],
    ['its regions', ['en-US', 'en-GB'], '', '25'],
    ['the language that was named, whatever the engine says', ['en-GB'], 'de', '25'],
    ['what the engine heard when anything is possible', [], 'EN-us', '25'],
    ['what the engine heard of several', ['de', 'en'], 'en', '25'],
    ['no language when the engine cannot tell', [], '', 'twenty five'],
    ['no language when it has no normaliser', ['de', 'fr'], 'en', 'twenty five'],
  ])('goes by %s', (_, languages, heard, text) => {
    expect(form.apply(transcript(heard), order(languages)).text).toBe(text);
  });

  it('does nothing unless wanted', () => {
    const spoken = transcript('en');
    expect(form.apply(spoken, order(['en'], false))).toBe(spoken);
  });

  it('answers with the spoken form when a normaliser throws, and logs that once', () => {
    const spoken = transcript('xx');
    for (let time = 0; time < 3; time += 1) expect(form.apply(spoken, order([]))).toBe(spoken);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('twenty');
  });

  it.each([[['en']], [['de', 'en-GB']], [[]]])('can be demanded of %j', languages => {
    expect(() => form.demand(order(languages))).not.toThrow();
  });

  it('is refused when no language the text can be in has a normaliser', () => {
    expect(() => form.demand(order(['de', 'fr']))).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', message: expect.stringContaining('de or fr') }),
    );
    expect(() => form.demand({ wanted: true, demanded: false, languages: ['de'] })).not.toThrow();
  });
});
