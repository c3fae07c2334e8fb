import { describe, expect, it } from '@jest/globals';
import { loudnessMeter, normaliseLoudness } from './loudness.js';

const never = new AbortController().signal;

/** Syllables of 200 ms and pauses as long, `db` below full scale at their loudest. */
const speech = (db: number, seconds = 3): Int16Array =>
  Int16Array.from({ length: seconds * 16_000 }, (_, i) =>
    i % 6400 < 3200 ? 32_767 * 10 ** (db / 20) * Math.sin(i / 8) : 0,
  );
const tone = (db: number): Int16Array =>
  Int16Array.from({ length: 48_000 }, (_, i) => 32_767 * 10 ** (db / 20) * Math.sin(i / 8));
const loudest = (samples: Int16Array) =>
  20 * Math.log10(samples.reduce((a, b) => Math.max(a, Math.abs(b)), 1) / 32_768);

describe('normaliseLoudness', () => {
  it('brings speech 40 dB too quiet to -23 dB, by one gain: the pauses stay silent', async () => {
    const quiet = speech(-60);
    const heard = await normaliseLoudness(quiet, never);
    expect(loudest(heard)).toBeGreaterThan(-24);
    expect(loudest(heard)).toBeLessThan(-18);
    const factor = heard[101]! / quiet[101]!;
    expect(
      quiet.every((sample, i) => Math.abs(heard[i]! - sample * factor) <= Math.abs(sample) + 1),
    ).toBe(true);
    expect(heard.subarray(3300, 6300).every(sample => sample === 0)).toBe(true);
  });

  it.each([
    ['silence', new Int16Array(48_000)],
    ['nothing', new Int16Array(0)],
    ['half a block', speech(-40).subarray(0, 800)],
    ['the last bits of a converter', speech(-80)],
    ['a hum', tone(-50)],
    ['speech that is loud enough', speech(-20)],
    ['speech that is clipped', speech(6)],
  ])('leaves %s as it is', async (_what, samples) => {
    expect(await normaliseLoudness(samples, never)).toBe(samples);
  });

  it('lets no syllable exceed full scale, and a single click not keep the rest quiet', async () => {
    const quiet = speech(-50, 30);
    quiet[4000] = 30_000;
    const heard = await normaliseLoudness(quiet, never);
    expect(heard[4000]).toBe(32_767);
    expect(loudest(heard.subarray(6400))).toBeGreaterThan(-24);
  });

  it('lifts nothing by more than 40 dB', async () => {
    const quiet = speech(-70);
    expect(loudest(await normaliseLoudness(quiet, never)) - loudest(quiet)).toBeLessThan(41);
  });

  it('keeps nothing from one file to the next, and does not depend on how it was cut', () => {
    const samples = speech(-55);
    const whole = loudnessMeter();
    whole.add(samples);
    const pieces = loudnessMeter();
    for (let at = 0; at < samples.length; at += 777) pieces.add(samples.subarray(at, at + 777));
    expect(pieces.gain()).toBe(whole.gain());
    expect(whole.gain()).toBeGreaterThan(10);
  });

  it('ends with the error of its abort', async () => {
    await expect(normaliseLoudness(speech(-40), AbortSignal.abort())).rejects.toMatchObject({
      code: 'request_cancelled',
    });
  });
});
