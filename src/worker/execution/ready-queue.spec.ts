import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ReadyQueue, type ReadyEntry } from './ready-queue.js';

describe('ReadyQueue', () => {
  const queueOf = (...mostTogether: readonly (number | undefined)[]): ReadyQueue<ReadyEntry> => {
    const queue = new ReadyQueue<ReadyEntry>();
    for (const [sequence, most] of mostTogether.entries()) {
      const group = { id: `g${sequence}`, size: 1, ...(most !== undefined && { mostTogether: most }) };
      queue.ready({ priority: RequestPriority.BATCH, sequence, group }, 0);
    }
    return queue;
  };
  const groups = (queue: ReadyQueue<ReadyEntry>, count: number): number[][] => {
    const taken: number[][] = [];
    while (queue.size > 0) taken.push(queue.take(count).map(({ sequence }) => sequence));
    return taken;
  };

  it('takes as many as asked for when nobody is suspect', () => {
    expect(groups(queueOf(undefined, undefined, undefined), 2)).toEqual([[0, 1], [2]]);
  });

  it('gives a suspect no more company than it may have, and loses nobody', () => {
    expect(groups(queueOf(3, 3, 3, 3, 3, 3), 6)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(groups(queueOf(1, undefined, undefined), 6)).toEqual([[0], [1, 2]]);
    expect(groups(queueOf(undefined, 1, undefined), 6)).toEqual([[0, 2], [1]]);
  });
});
