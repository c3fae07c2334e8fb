import { describe, expect, it } from '@jest/globals';
import { applyRules, expOf, likeliest, logSumExp, sampleToken } from './token-sampling.js';

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

describe('expOf', () => {
  it('is e^x of anything down to -40, and 0 below', () => {
    for (let x = 0; x >= -40; x -= 0.0007) expect(Math.abs(expOf(x) / Math.exp(x) - 1)).toBeLessThan(1e-10);
    expect([expOf(-40.1), expOf(-Infinity)]).toEqual([0, 0]);
  });
});

describe('sampleToken', () => {
  const LOGITS = Float32Array.of(1, -Infinity, 3, 2.5, -Infinity, 0);

  it.each([0.2, 1])('draws tokens as often as they are likely at temperature %d', temperature => {
    const weights = [...LOGITS].map(logit => Math.exp(logit / temperature));
    const total = weights.reduce((sum, weight) => sum + weight);
    const counts = weights.map(() => 0);
    const draws = 20_000;
    for (let i = 0; i < draws; i++) counts[sampleToken(LOGITS, temperature, () => (i + 0.5) / draws).token]! += 1;
    counts.forEach((count, token) => expect(Math.abs(count - (draws * weights[token]!) / total)).toBeLessThan(1.001));
  });

  it('takes the likeliest at temperature 0, and tells its probability at temperature 1', () => {
    const { token, logprob } = sampleToken(LOGITS, 0, () => 0.99);
    expect(token).toBe(2);
    expect(logprob).toBeCloseTo(3 - Math.log(Math.exp(1) + Math.exp(3) + Math.exp(2.5) + 1), 6);
  });
});

it('takes the first of several that are likeliest, and has a sum of nothing', () => {
  expect(likeliest(Float32Array.of(1, 4, 4))).toBe(1);
  expect(likeliest(Float32Array.of(-Infinity, -Infinity))).toBe(0);
  expect(logSumExp(Float32Array.of(-Infinity))).toBe(-Infinity);
});
