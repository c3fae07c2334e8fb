/**
 * A source of numbers in [0, 1), the same sequence for the same seed, so that a bench
 * repeats (mulberry32).
 */
export type RandomSource = () => number;

export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Exponential variate: the gap between two arrivals of a Poisson process with
 * that mean gap.
 */
export function exponential(random: RandomSource, mean: number): number {
  return -Math.log(1 - random()) * mean;
}
