import { describe, expect, it } from '@jest/globals';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { RepeatedForms } from './repeated-forms.js';

const formsOf = () => new RepeatedForms(TranscriptionDto);

describe('RepeatedForms', () => {
  it('gives equal forms one DTO, which nobody can change', () => {
    const forms = formsOf();
    const dto = forms.parse({ model: 'm', temperature: '0.5' });
    expect(dto).toMatchObject({ model: 'm', temperature: 0.5, response_format: 'json' });
    expect(forms.parse({ model: 'm', temperature: '0.5' })).toBe(dto);
    expect(Object.isFrozen(dto)).toBe(true);
  });

  it('tells forms apart by each name and value', () => {
    const forms = formsOf();
    const languages = ['en', 'de', 'en'].map(language => forms.parse({ model: 'm', language }).language);
    expect(languages).toEqual(['en', 'de', 'en']);
    const { language, prompt } = forms.parse({ model: 'm', prompt: 'en' });
    expect([language, prompt]).toEqual([undefined, 'en']);
  });

  it('refuses a bad form every time', () => {
    const forms = formsOf();
    for (const _time of [1, 2]) expect(() => forms.parse({ model: 'm', temperature: '2' })).toThrow('from 0 to 1');
  });

  it('validates lists, values from JSON parts and long prompts anew', () => {
    const forms = formsOf();
    for (const odd of [{ include: ['logprobs'] }, { newer: { nested: true } }, { prompt: 'x'.repeat(600) }]) {
      const form = { model: 'm', ...odd };
      expect(forms.parse(form)).not.toBe(forms.parse(form));
    }
    expect(() => forms.parse({ model: 'm', temperature: Infinity })).toThrow('got Infinity');
  });

  it('keeps no more than 64 forms', () => {
    const forms = formsOf();
    const first = forms.parse({ model: 'm0' });
    for (let n = 1; n < 64; n++) forms.parse({ model: `m${n}` });
    expect(forms.parse({ model: 'm0' })).toBe(first);
    forms.parse({ model: 'm64' });
    expect(forms.parse({ model: 'm0' })).not.toBe(first);
  });
});
