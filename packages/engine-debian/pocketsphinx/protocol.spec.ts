import { describe, expect, it } from '@jest/globals';
import { plainText, spokenWords } from './protocol.js';

describe('hypothesis of PocketSphinx', () => {
  it('loses fillers and variant marks', () => {
    expect(plainText("<s> the(2) <sil> quick [NOISE] fox's ++UM++ tail </s>")).toBe(
      "the quick fox's tail",
    );
    expect(plainText('')).toBe('');
  });

  it('keeps spoken words, shifted by the offset and inside the audio', () => {
    const decoded = [
      { word: '<sil>', start: 0, end: 0.1, confidence: 1 },
      { word: 'read(2)', start: 0.1, end: 0.4, confidence: 0.98765 },
      { word: 'on', start: 0.4, end: 0.92, confidence: 1 },
    ];
    expect(spokenWords(decoded, 10, 10.9)).toEqual([
      { word: 'read', start: 10.1, end: 10.4, confidence: 0.988 },
      { word: 'on', start: 10.4, end: 10.9, confidence: 1 },
    ]);
  });
});
