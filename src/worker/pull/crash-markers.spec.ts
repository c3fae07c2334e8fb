import { describe, expect, it } from '@jest/globals';
import { type CrashMarker, retryAfterCrash } from './crash-markers.js';

/**
 * Engine calls that a killer is part of until it is given up, by their sizes, when each call is as large as it may be.
 */
function sizesUntilGivenUp(first: number, maxStalled = 1): number[] {
  const sizes: number[] = [];
  let mark: CrashMarker = { size: first, alone: first === 1 ? 1 : 0, deaths: 0 };
  for (let deaths = 1; ; deaths++) {
    sizes.push(mark.size);
    const retry = retryAfterCrash({ deaths, mark }, maxStalled);
    if (retry.kind === 'give_up') return sizes;
    mark = { size: retry.mostTogether, alone: retry.alone + (retry.mostTogether === 1 ? 1 : 0), deaths };
  }
}

describe('retryAfterDeath', () => {
  it('halves the group until the killer is alone, and gives it up when it was alone twice', () => {
    expect(sizesUntilGivenUp(6)).toEqual([6, 3, 2, 1, 1]);
    expect(sizesUntilGivenUp(1)).toEqual([1, 1]);
  });

  it('gives it up the first time alone with redis.max_stalled 0', () => {
    expect(sizesUntilGivenUp(4, 0)).toEqual([4, 2, 1]);
  });

  it('never gives up a member for deaths in company', () => {
    const mark = { size: 2, alone: 0, deaths: 40 };
    expect(retryAfterCrash({ deaths: 41, mark }, 1)).toEqual({ kind: 'again', mostTogether: 1, alone: 0 });
  });

  it('counts deaths before it reached the device like those alone', () => {
    expect(retryAfterCrash({ deaths: 1, mark: undefined }, 1)).toMatchObject({ kind: 'again', mostTogether: Infinity });
    expect(retryAfterCrash({ deaths: 2, mark: undefined }, 1)).toEqual({ kind: 'give_up' });
  });

  it('does not blame a job that was given back after its call', () => {
    const mark = { size: 1, alone: 1, deaths: 1 };
    expect(retryAfterCrash({ deaths: 1, mark }, 1)).toEqual({ kind: 'again', mostTogether: 1, alone: 0 });
  });

  it('splits as well when only the device died and its worker lives', () => {
    const mark = { size: 4, alone: 0, deaths: 0, died: true };
    expect(retryAfterCrash({ deaths: 0, mark }, 1)).toEqual({ kind: 'again', mostTogether: 2, alone: 0 });
  });
});
