import { describe, expect, it } from '@jest/globals';
import { wordsOf } from './transcript.js';

const result = (tokens: string[], timestamps: number[], more = {}) => ({
  text: tokens.join(''),
  tokens,
  timestamps,
  ...more,
});

describe('wordsOf', () => {
  it('begins a word at a space or SentencePiece mark, and ends it where the next begins at the latest', () => {
    expect(wordsOf(result([' he', 'llo', '\u2581world'], [0.1, 0.3, 0.4]), 10, 12)).toEqual([
      { word: 'hello', start: 10.1, end: 10.4, confidence: 0 },
      { word: 'world', start: 10.4, end: 10.6, confidence: 0 },
    ]);
  });

  it('takes the first token as a word also without a mark, and marks alone as none', () => {
    expect(wordsOf(result(['ra', ' ', ' lo'], [0, 0.5, 1]), 0, 2).map(({ word }) => word)).toEqual([
      'ra',
      'lo',
    ]);
  });

  it('never passes the end of the audio', () => {
    expect(wordsOf(result([' a', ' b'], [0.95, 1.3]), 0, 1)).toEqual([
      { word: 'a', start: 0.95, end: 1, confidence: 0 },
      { word: 'b', start: 1, end: 1, confidence: 0 },
    ]);
  });

  it('multiplies the posteriors of the tokens, and uses durations where there are some', () => {
    const told = { durations: [0.05, 0.1], ys_log_probs: [Math.log(0.5), Math.log(0.5)] };
    expect(wordsOf(result([' a', 'b'], [0, 0.2], told), 0, 5)).toEqual([
      { word: 'ab', start: 0, end: 0.3, confidence: 0.25 },
    ]);
  });

  it('keeps characters of scripts without spaces apart', () => {
    expect(wordsOf(result(['你', '好'], [0, 0.2]), 0, 1).map(({ word }) => word)).toEqual([
      '你',
      '好',
    ]);
  });

  it('has no words where the model tells no times', () => {
    expect(wordsOf(result([' a', ' b'], []), 0, 1)).toEqual([]);
  });
});
