import { describe, expect, it } from '@jest/globals';
import { firstColumns, medianFilter } from './word-alignment.js';

describe('firstColumns', () => {
  it('follows the cheapest monotonic path', () => {
    const cheap: readonly (readonly number[])[] = [
      [1, 1, 0, 0, 0, 0],
      [0, 0, 1, 0, 0, 0],
      [0, 0, 0, 1, 1, 1],
    ];
    const cost = Float64Array.from(cheap.flat(), value => 1 - 2 * value);
    expect(firstColumns(cost, 3, 6)).toEqual([0, 2, 3]);
  });
});

describe('medianFilter', () => {
  it('takes a single peak away and keeps an edge', () => {
    expect([...medianFilter(Float64Array.from([0, 0, 9, 0, 0, 5, 5, 5, 5]), 3)]).toEqual([0, 0, 0, 0, 0, 5, 5, 5, 5]);
  });
});
