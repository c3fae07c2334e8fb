import { describe, expect, it } from '@jest/globals';
import { isSpeakable, toSpeakableText } from './synthesizer.js';

describe('toSpeakableText', () => {
  it.each([
    ['makes typographic signs plain', 'Don\u2019t \u201cgo\u201d\u2026', 'Don\'t "go"...'],
    ['takes accents off letters', 'caf\u00e9 \u00f1and\u00fa Stra\u00dfe', 'cafe nandu Strasse'],
    ['makes NUL and control characters spaces', 'a\0b\x07c\td', 'a b c d'],
    ['keeps line ends', 'a\nb', 'a\nb'],
    ['leaves other scripts out', 'hello \u4f60\u597d world', 'hello world'],
    ['says pounds and euros', '5\u20ac', '5 euros'],
  ])('%s', (_title, text, plain) => {
    expect(toSpeakableText(text)).toBe(plain);
  });

  it('knows when nothing is left to say', () => {
    const speakable = (text: string) => isSpeakable(toSpeakableText(text));
    expect(['\u4f60\u597d', '...', '', '\u{1f600}', '\0'].map(speakable)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(['a', '7', '%', '& \u4f60'].map(speakable)).toEqual([true, true, true, true]);
  });
});
