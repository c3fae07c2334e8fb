import { describe, expect, it } from '@jest/globals';
import { UsualLanguage } from './usual-language.js';

describe('UsualLanguage', () => {
  it('is that of most seconds of speech; one short utterance in another one changes nothing', () => {
    const usual = new UsualLanguage();
    expect(usual.code).toBe('');
    usual.add('', 9);
    usual.add('cy', 2);
    expect(usual.code).toBe('cy');
    for (const seconds of [1.5, 1.5]) usual.add('en', seconds);
    usual.add('zh', 2);
    expect(usual.code).toBe('en');
  });
});
