import { describe, expect, it } from '@jest/globals';
import { splitIntoUtterances } from './utterance-split.js';

const RATE = 16_000;

function noise(seconds: number): Int16Array {
  return Int16Array.from({ length: seconds * RATE }, (_, i) => (i * 7919) % 2000);
}

describe('splitIntoUtterances', () => {
  it('leaves 15 s and less whole', () => {
    expect(splitIntoUtterances(new Int16Array(0))).toEqual([]);
    expect(splitIntoUtterances(noise(15))).toEqual([{ from: 0, to: 15 * RATE }]);
  });

  it('takes other lengths', () => {
    const ranges = splitIntoUtterances(noise(20), { shortestS: 3, longestS: 6 });
    expect(ranges.every(({ from, to }) => to - from <= 6 * RATE)).toBe(true);
    expect(ranges.slice(0, -1).every(({ from, to }) => to - from >= 3 * RATE)).toBe(true);
  });

  it('cuts in the middle of the pause', () => {
    const samples = noise(20);
    samples.fill(0, 11 * RATE, 11.3 * RATE);
    const [first, second] = splitIntoUtterances(samples);
    expect(Math.abs(first!.to / RATE - 11.15)).toBeLessThan(0.02);
    expect(second).toEqual({ from: first!.to, to: 20 * RATE });
  });

  it.each([
    ['noise', noise(100)],
    ['silence', new Int16Array(100 * RATE)],
  ])('covers %s completely with adjacent ranges of 8 to 15 s', (_title, samples) => {
    const ranges = splitIntoUtterances(samples);
    expect(ranges[0]!.from).toBe(0);
    expect(ranges.at(-1)!.to).toBe(samples.length);
    ranges.slice(1).forEach((range, i) => expect(range.from).toBe(ranges[i]!.to));
    for (const { from, to } of ranges.slice(0, -1)) {
      expect(to - from).toBeGreaterThanOrEqual(8 * RATE);
      expect(to - from).toBeLessThanOrEqual(15 * RATE);
    }
  });
});
