import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { compressionRatio, segmentsOf } from './transcript-segments.js';

describe('segmentsOf', () => {
  it('numbers the segments from 0 and tells the temperature they were made with', () => {
    const segment = { start: 0, end: 1, text: 'hello', avgLogprob: -0.1, noSpeechProb: 0.2 };
    const transcript = { text: 'hello hello', language: 'en', segments: [segment, segment], words: [] };
    expect(segmentsOf(transcript, 0.4)).toMatchObject([
      { ...segment, id: 0, temperature: 0.4, tokens: [] },
      { ...segment, id: 1, temperature: 0.4, tokens: [] },
    ]);
  });
});

describe('compressionRatio', () => {
  it('rises with repetition and is 0 for nothing', () => {
    expect(compressionRatio('')).toBe(0);
    expect(compressionRatio('the quick brown fox')).toBeLessThan(1.2);
    expect(compressionRatio('thank you '.repeat(50))).toBeGreaterThan(10);
  });

  it('is what plain deflate gives, for short texts and long ones', () => {
    for (const sentence of [
      'Grüße aus dem Süden, ',
      'you are ',
      Array.from({ length: 500 }, (_, n) => n * n).join(' '),
    ]) {
      for (const length of [1, 10, 250, 1200, 1999, 2000, 2001, 9000]) {
        const bytes = Buffer.from(sentence.repeat(length).slice(0, length));
        expect(compressionRatio(String(bytes))).toBe(bytes.length / deflateRawSync(bytes).length);
      }
    }
  });
});
