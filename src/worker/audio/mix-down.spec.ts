import { describe, expect, it } from '@jest/globals';
import { bytesOf } from '@switchyard/engine-api/audio/pcm.js';
import { MixDown } from './mix-down.js';

const BLOCK = 1600;

/** Pairs of a mean and a left sample as bytes, cut into pieces of `size`. */
function mixed(pairs: readonly number[], size: number): readonly number[] {
  const bytes = bytesOf(Int16Array.from(pairs));
  const mix = new MixDown();
  const samples: number[] = [];
  for (let at = 0; at < bytes.length; at += size)
    samples.push(...mix.take(bytes.subarray(at, at + size)));
  return [...samples, ...mix.end()];
}

const block = (mean: number, left: number, length = BLOCK): number[] =>
  Array.from({ length }, () => [mean, left]).flat();

describe('MixDown', () => {
  it('is the mean of the channels, also where left is silent or twice as loud', () => {
    const pairs = [...block(100, 0), ...block(100, 200, 7)];
    expect(mixed(pairs, 1 << 20)).toEqual(Array<number>(BLOCK + 7).fill(100));
  });

  it('is the left channel in each 0.1 s in which the channels cancel out', () => {
    const pairs = [...block(100, 100), ...block(1, 100), ...block(50, 100), ...block(0, 60, 3)];
    const samples = mixed(pairs, 1 << 20);
    expect(samples.filter((_sample, at) => at % BLOCK === 0)).toEqual([100, 100, 50, 60]);
    expect(samples).toHaveLength(3 * BLOCK + 3);
  });

  it.each([1, 3, 4, 999, 6401])('is the same in pieces of %i bytes', size => {
    const pairs = [...block(5, 100), ...block(70, 100), ...block(0, 9, 11)];
    expect(mixed(pairs, size)).toEqual(mixed(pairs, 1 << 20));
  });
});
