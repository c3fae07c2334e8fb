import { describe, expect, it } from '@jest/globals';
import { bytesOf } from './pcm.js';
import { PcmIntake } from './resampler.js';

describe('PcmIntake', () => {
  it('puts a sample together that two frames share', () => {
    const bytes = bytesOf(Int16Array.of(100, -200, 300));
    const intake = new PcmIntake(16_000);
    const heard = [
      intake.take(bytes.subarray(0, 3)),
      intake.take(bytes.subarray(3, 4)),
      intake.take(bytes.subarray(4)),
    ];
    expect(heard.flatMap(samples => [...samples])).toEqual([100, -200, 300]);
  });

  it('brings 8 kHz to 16 kHz', () => {
    const intake = new PcmIntake(8000);
    const count = intake.take(bytesOf(new Int16Array(800))).length + intake.end().length;
    expect(count).toBe(1600);
  });

  it.each([0, 7999, 96_000])('refuses a sample rate of %i', rate => {
    expect(() => new PcmIntake(rate)).toThrow(/sample_rate must be one of 8000/);
  });
});
