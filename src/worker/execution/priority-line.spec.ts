import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../core/request/request-priority.js';
import { PriorityLine } from './priority-line.js';

const { REALTIME, BATCH } = RequestPriority;
const entry = (sequence: number, priority: RequestPriority) => ({ sequence, priority });

describe('PriorityLine', () => {
  it('gives REALTIME first, then arrival, whatever the order of entering', () => {
    const line = new PriorityLine();
    for (const [sequence, priority] of [
      [3, BATCH],
      [1, BATCH],
      [4, REALTIME],
      [2, REALTIME],
      [0, BATCH],
    ] as const)
      line.add(entry(sequence, priority));
    expect(line.take(5).map(({ sequence }) => sequence)).toEqual([2, 4, 0, 1, 3]);
  });

  it('takes no more than asked for and no more than there is', () => {
    const line = new PriorityLine();
    for (const sequence of [0, 1, 2]) line.add(entry(sequence, BATCH));
    expect(line.take(2)).toHaveLength(2);
    expect(line.take(2)).toHaveLength(1);
    expect(line.head).toBeUndefined();
  });

  it('removes an entry once', () => {
    const line = new PriorityLine();
    const one = entry(0, BATCH);
    line.add(one);
    expect([line.remove(one), line.remove(one), line.size]).toEqual([true, false, 0]);
  });
});
