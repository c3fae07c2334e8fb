import { deflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { compressionRatio } from './transcript-body.js';

describe('compressionRatio', () => {
  it('rises with repetition and is 0 for nothing', () => {
    expect(compressionRatio('')).toBe(0);
    expect(compressionRatio('the quick brown fox')).toBeLessThan(1.2);
    expect(compressionRatio('thank you '.repeat(50))).toBeGreaterThan(10);
  });

  it('is what plain zlib gives, as in the Whisper of OpenAI, for short texts and long ones', () => {
    for (const sentence of [
      'Grüße aus dem Süden, ',
      'you are ',
      Array.from({ length: 500 }, (_, n) => n * n).join(' '),
    ]) {
      for (const length of [1, 10, 250, 1200, 1999, 2000, 2001, 9000]) {
        const bytes = Buffer.from(sentence.repeat(length).slice(0, length));
        expect(compressionRatio(String(bytes))).toBe(bytes.length / deflateSync(bytes).length);
      }
    }
  });
});
