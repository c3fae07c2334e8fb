import { describe, expect, it } from '@jest/globals';
import { compressionRatio } from '../../../contracts/formats/compression-ratio.js';
import { isSilence, needsAnotherTry, temperatureLadder } from './transcription-job.js';

const result = (change: object = {}) => ({
  ...{ tokens: [], logprobs: [], text: 'a sentence of its own', temperature: 0, avgLogprob: -0.2, noSpeechProb: 0 },
  ...change,
});
const REPEATED = 'again and '.repeat(20);

describe('temperature fallback', () => {
  it('tries 0, 0.2, ... 1 for a request at 0, and only the one asked for otherwise', () => {
    expect(temperatureLadder(0)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(temperatureLadder(0.3)).toEqual([0.3]);
  });

  it('tries again below an average of -1.0 and above a compression of 2.4', () => {
    expect(needsAnotherTry(result())).toBe(false);
    expect(needsAnotherTry(result({ avgLogprob: -1.01 }))).toBe(true);
    expect(compressionRatio(REPEATED)).toBeGreaterThan(2.4);
    expect(needsAnotherTry(result({ text: REPEATED }))).toBe(true);
  });

  it('takes unsure text over probable silence (above 0.6) for silence, not for a failed try', () => {
    const silent = result({ noSpeechProb: 0.61, avgLogprob: -1.2 });
    expect([isSilence(silent), needsAnotherTry(silent)]).toEqual([true, false]);
    expect(isSilence(result({ noSpeechProb: 0.99 }))).toBe(false);
  });
});
