import { describe, expect, it } from '@jest/globals';
import { UsualLanguage } from './usual-language.js';

describe('UsualLanguage', () => {
  it('is that of most seconds of speech; one short utterance in another one changes nothing', () => {
    const usual = new UsualLanguage();
    expect(usual.code).toBe('');
    usual.heard('', 9);
    usual.heard('cy', 2);
    expect(usual.code).toBe('cy');
    for (const seconds of [1.5, 1.5]) usual.heard('en', seconds);
    usual.heard('zh', 2);
    expect(usual.code).toBe('en');
  });
});
