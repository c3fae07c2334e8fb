import { describe, expect, it } from '@jest/globals';
import { bytesOf } from '@switchyard/engine-api/audio/pcm.js';
import fc from 'fast-check';
import { PcmIntake, Resampler } from './resampler.js';

const tone = (hertz: number, rate: number, count: number): Int16Array =>
  Int16Array.from({ length: count }, (_, n) =>
    Math.round(16_000 * Math.sin((2 * Math.PI * hertz * n) / rate)),
  );

function resample(
  samples: Int16Array,
  from: number,
  to: number,
  cuts: readonly number[] = [],
): Int16Array {
  const resampler = new Resampler(from, to);
  const pieces: Int16Array[] = [];
  let at = 0;
  for (const cut of [...cuts, samples.length]) {
    pieces.push(resampler.process(samples.subarray(at, Math.min(samples.length, at + cut))));
    at = Math.min(samples.length, at + cut);
  }
  pieces.push(resampler.flush());
  return Int16Array.from(pieces.flatMap(piece => [...piece]));
}

/** dB between a tone and what differs from it, away from the edges. */
function signalToNoise(heard: Int16Array, expected: Int16Array) {
  let signal = 0;
  let noise = 0;
  for (let n = 100; n < expected.length - 100; n += 1) {
    signal += expected[n]! ** 2;
    noise += (heard[n]! - expected[n]!) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

describe('Resampler', () => {
  it('gives the same samples however the input is cut', () => {
    const samples = tone(440, 16_000, 1000);
    const whole = resample(samples, 16_000, 24_000);
    fc.assert(
      fc.property(fc.array(fc.nat(200), { maxLength: 30 }), cuts => {
        expect(resample(samples, 16_000, 24_000, cuts)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [16_000, 24_000],
    [8000, 16_000],
    [44_100, 16_000],
    [48_000, 16_000],
    [22_050, 24_000],
  ])('carries a 1 kHz tone from %i to %i Hz with 75 dB and without delay', (from, to) => {
    const heard = resample(tone(1000, from, from / 2), from, to);
    expect(signalToNoise(heard, tone(1000, to, to / 2))).toBeGreaterThan(75);
  });

  it('keeps out what the lower rate cannot hold', () => {
    const heard = resample(tone(11_000, 48_000, 4800), 48_000, 16_000);
    expect(Math.max(...heard.subarray(100, -100).map(Math.abs))).toBeLessThanOrEqual(2);
  });

  it.each([0, 1, 2, 159, 160, 161])('makes ceil(n * to / from) samples of n = %i', count => {
    expect(resample(tone(440, 44_100, count), 44_100, 16_000)).toHaveLength(
      Math.ceil((count * 160) / 441),
    );
    expect(resample(tone(440, 16_000, count), 16_000, 24_000)).toHaveLength(Math.ceil(count * 1.5));
  });

  it('clips instead of wrapping around at full scale', () => {
    const square = Int16Array.from({ length: 400 }, (_, n) => (n % 100 < 50 ? 32_767 : -32_768));
    const heard = resample(square, 16_000, 24_000);
    expect(heard[40]).toBeGreaterThan(30_000);
    expect(heard[120]).toBeLessThan(-30_000);
  });
});

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
