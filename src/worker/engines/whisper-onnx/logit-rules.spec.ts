import { describe, expect, it } from '@jest/globals';
import { applyRules } from './token-sampling.js';

/** 0-3 text, 4 end, 5 a special, 6 no times, 7.. times 0.00, 0.02, ... */
const TOKENS = {
  ...{ endToken: 4, noTimestamps: 6, firstTime: 7, suppressed: [3, 5], suppressedFirst: [0, 4] },
  latestFirstTime: 2 as number | undefined,
};
const SIZE = 13;

/** Tokens that may follow; text is likelier than any time unless told otherwise. */
function allowed(sampled: readonly number[], { times = 0, tokens = TOKENS } = {}): number[] {
  const logits = Float32Array.from({ length: SIZE }, (_, token) => (token < 7 ? 5 : times));
  applyRules(logits, sampled, tokens);
  return [...logits.keys()].filter(token => logits[token] !== -Infinity);
}

describe('applyRules', () => {
  it('begins with a time, not later than the latest first one', () => {
    expect(allowed([])).toEqual([7, 8, 9]);
    expect(allowed([], { tokens: { ...TOKENS, latestFirstTime: undefined } })).toEqual([7, 8, 9, 10, 11, 12]);
  });

  it('goes on with text or the end after the first time, never with what is suppressed', () => {
    expect(allowed([8])).toEqual([0, 1, 2, 4]);
  });

  it('ends a segment later than it began', () => {
    expect(allowed([8, 1])).toEqual([0, 1, 2, 4, 9, 10, 11, 12]);
  });

  it('follows a segment end by a start at the same time or later, or by the end', () => {
    expect(allowed([8, 1, 10])).toEqual([4, 10, 11, 12]);
  });

  it('follows a pair of times by text', () => {
    expect(allowed([8, 1, 10, 10])).toEqual([0, 1, 2, 4]);
  });

  it('takes a time when times together are likelier than any text', () => {
    expect(allowed([8, 1], { times: 4 })).toEqual([9, 10, 11, 12]);
  });
});
