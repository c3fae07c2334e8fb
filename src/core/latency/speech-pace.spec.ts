import { describe, expect, it } from '@jest/globals';
import { SpeechPace } from './speech-pace.js';

describe('SpeechPace', () => {
  it('expects of a text what the voice took for others', () => {
    const pace = new SpeechPace();
    expect(pace.expected(100)).toEqual({ deviceMs: 0, audioMs: 0 });
    pace.observe(50, 100, 3000);
    expect(pace.expected(100)).toEqual({ deviceMs: 200, audioMs: 6000 });
  });

  it.each([
    [100, 16],
    [1000, 2],
    [9000, 1],
    [300, 8],
  ])('with 3 s of audio in %d ms, makes %d answers as fast as they are played', (deviceMs, n) => {
    const pace = new SpeechPace();
    pace.observe(50, deviceMs, 3000);
    expect(pace.together).toBe(n);
  });
});
