import { describe, expect, it } from '@jest/globals';
import { type TranscriptWord } from '@switchyard/engine-api/speech-recognizer.js';
import { toTranscript } from './transcript-segments.js';

const segmentsByPauses = (words: Parameters<typeof toTranscript>[0]) =>
  toTranscript(words, false).segments;

function word(start: number, end: number, confidence = 1): TranscriptWord {
  return { word: `w${start}`, start, end, confidence };
}

describe('segmentsByPauses', () => {
  it('cuts at a pause of 0.3 s and not at 0.29 s', () => {
    const segments = segmentsByPauses([word(0, 0.5), word(0.79, 1), word(1.3, 2)]);
    expect(segments.map(({ start, end, text }) => [start, end, text])).toEqual([
      [0, 1, 'w0 w0.79'],
      [1.3, 2, 'w1.3'],
    ]);
  });

  it('cuts speech without pauses before a segment passes 12 s', () => {
    const segments = segmentsByPauses(Array.from({ length: 26 }, (_, i) => word(i, i + 1)));
    expect(segments.map(({ start, end }) => end - start)).toEqual([12, 12, 2]);
  });

  it('takes the mean of ln(posterior), with a floor for posteriors of zero', () => {
    const [segment] = segmentsByPauses([word(0, 1, 0.5), word(1, 2, 0)]);
    expect(segment!.avgLogprob).toBeCloseTo((Math.log(0.5) + Math.log(1e-4)) / 2, 3);
  });

  it('takes the share of the segment that no word covers as no-speech', () => {
    const [segment] = segmentsByPauses([word(0, 0.8), word(1, 2)]);
    expect(segment!.noSpeechProb).toBe(0.1);
  });

  it('makes no segment of no words', () => {
    expect(toTranscript([], true)).toEqual({ text: '', language: 'en', segments: [], words: [] });
  });
});
