import { describe, expect, it } from '@jest/globals';
import { Fft, powerSpectra } from './log-mel.js';

const signal = (length: number, seed: number) =>
  Float64Array.from({ length }, (_, i) => Math.sin(i * seed) + ((i * 7919 * seed) % 13) / 13);

function slowPower(x: Float64Array, k: number): number {
  let [re, im] = [0, 0];
  x.forEach((value, i) => {
    re += value * Math.cos((2 * Math.PI * i * k) / x.length);
    im -= value * Math.sin((2 * Math.PI * i * k) / x.length);
  });
  return re * re + im * im;
}

describe('Fft', () => {
  it.each([400, 60, 16, 5])('agrees with the definition for two real frames of %i samples', length => {
    const [first, second] = [signal(length, 3), signal(length, 5)];
    const spectra = [new Float64Array(length / 2 + 1), new Float64Array(length / 2 + 1)] as const;
    powerSpectra(new Fft(length), first.slice(), second.slice(), ...spectra);
    for (let k = 0; k <= length / 2; k++) {
      expect(spectra[0][k]).toBeCloseTo(slowPower(first, k), 6);
      expect(spectra[1][k]).toBeCloseTo(slowPower(second, k), 6);
    }
  });

  it('refuses a length with a prime factor above 5', () => {
    expect(() => new Fft(14)).toThrow('prime factor above 5: 7');
  });
});
