import { describe, expect, it } from '@jest/globals';
import { type TextSequence } from '../../generation/text-backend.port.js';
import { COPY, CUT } from './llama-protocol.js';
import { frameOf, type PlacedItem, runsOf } from './step-frame.js';

const request = {} as TextSequence;
const placed = (slot: number, have: number, pending: readonly number[], sample = true): PlacedItem => ({
  item: { request, position: have, count: pending.length, tokens: pending, sample, blocks: [] },
  placement: { slot, have, operations: [], isNew: false },
  pending,
});

describe('runsOf', () => {
  it('is one run for all items as long as they fit', () => {
    expect(runsOf([placed(0, 4, [1]), placed(1, 0, [2, 3, 4], false)], 4)).toEqual([
      [
        { slot: 0, position: 4, tokens: [1], draws: true },
        { slot: 1, position: 0, tokens: [2, 3, 4], draws: false },
      ],
    ]);
  });

  it('computes before it what does not fit, so that all draws are in the last run', () => {
    const runs = runsOf([placed(0, 0, [1, 2, 3, 4, 5, 6, 7]), placed(1, 9, [8])], 3);
    expect(runs).toEqual([
      [{ slot: 0, position: 0, tokens: [1, 2, 3], draws: false }],
      [{ slot: 0, position: 3, tokens: [4, 5], draws: false }],
      [
        { slot: 0, position: 5, tokens: [6, 7], draws: true },
        { slot: 1, position: 9, tokens: [8], draws: true },
      ],
    ]);
  });
});

describe('frameOf', () => {
  it('is columns of numbers', () => {
    const operations = [
      { type: 'cut', slot: 1, keep: 7 },
      { type: 'copy', slot: 2, keep: 5, from: 1 },
    ] as const;
    const start = { follows: true, operations, begins: [] };
    const frame = frameOf(start, [{ slot: 2, position: 5, tokens: [10, 11], draws: true }]);
    expect(frame.follows).toBe(true);
    expect([...frame.operations]).toEqual([CUT, 1, 7, 0, COPY, 2, 5, 1]);
    expect([...frame.items]).toEqual([2, 5, 2, 1]);
    expect([...frame.tokens]).toEqual([10, 11]);
  });
});
