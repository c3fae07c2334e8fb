import { describe, expect, it } from '@jest/globals';
import { embeddingRuns } from './embedding-request.js';

const piece = (item: number, length: number) => ({
  item,
  input: 0,
  tokens: new Int32Array(length),
});
const lengths = (runs: readonly (readonly ReturnType<typeof piece>[])[]): number[][] =>
  runs.map(run => run.map(({ tokens }) => tokens.length));

describe('embeddingRuns', () => {
  it('puts like lengths together, up to the tokens of a run', () => {
    const pieces = [9, 2, 8, 1, 2].map((length, item) => piece(item, length));
    expect(lengths(embeddingRuns(pieces, { batchTokens: 10, batchTexts: 8 }))).toEqual([
      [1, 2, 2],
      [8],
      [9],
    ]);
  });

  it('has at most so many texts in a run, and no run for nothing', () => {
    const pieces = Array.from({ length: 5 }, (_, item) => piece(item, 1));
    expect(lengths(embeddingRuns(pieces, { batchTokens: 10, batchTexts: 2 }))).toEqual([
      [1, 1],
      [1, 1],
      [1],
    ]);
    expect(embeddingRuns([], { batchTokens: 10, batchTexts: 2 })).toEqual([]);
  });
});
