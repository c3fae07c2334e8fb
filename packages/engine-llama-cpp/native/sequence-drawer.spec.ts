import { describe, expect, it } from '@jest/globals';
import { seedAt } from './sequence-drawer.js';

describe('seedAt', () => {
  it('is another one at every position, the same one whenever it is asked for, and fits 32 bits', () => {
    const seeds = Array.from({ length: 1000 }, (_, position) => seedAt(7, position));
    expect(new Set(seeds).size).toBe(1000);
    expect(seeds.map((_, position) => seedAt(7, position))).toEqual(seeds);
    expect(seeds.every(seed => seed >= 0 && seed < 2 ** 32)).toBe(true);
    expect(seedAt(8, 0)).not.toBe(seedAt(7, 0));
  });
});
