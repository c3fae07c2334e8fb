import { describe, expect, it } from '@jest/globals';
import { segmentsOf } from './transcript-stitcher.js';

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
