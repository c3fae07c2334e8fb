import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { HalfByHalf } from './half-by-half.js';

function sent() {
  const items: number[] = [];
  return { items, halves: new HalfByHalf<number>(item => items.push(item)) };
}

describe('HalfByHalf', () => {
  it.each([
    { group: [1, 2, 3, 4, 5, 6, 7, 8], atOnce: [1, 2, 3, 4] },
    { group: [1, 2, 3, 4, 5], atOnce: [1, 2, 3] },
    { group: [1, 2, 3], atOnce: [1, 2, 3] },
    { group: [1], atOnce: [1] },
    { group: [], atOnce: [] },
  ])('sends $atOnce of $group at once and the rest a turn later', async ({ group, atOnce }) => {
    const { items, halves } = sent();
    halves.add(group);
    expect(items).toEqual(atOnce);
    await turn();
    expect(items).toEqual(group);
  });

  it('keeps the order when a second group comes before the rest of the first is out', async () => {
    const { items, halves } = sent();
    halves.add([1, 2, 3, 4]);
    halves.add([5, 6, 7, 8]);
    expect(items).toEqual([1, 2, 3, 4, 5, 6]);
    halves.add([9]);
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await turn();
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('sends a group that comes while the last rest is being sent behind it', async () => {
    const items: number[] = [];
    const halves = new HalfByHalf<number>(item => {
      items.push(item);
      if (item === 4) halves.add([5, 6]);
    });
    halves.add([1, 2, 3, 4]);
    await turn();
    expect(items).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
