import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGING_MS, PriorityQueueHarness } from '../../../test/support/priority-queue-harness.js';
import { aKey } from '../../../test/support/requests.js';
import { RequestPriority } from '../request/request-priority.js';

let harness: PriorityQueueHarness;

beforeEach(() => {
  harness = new PriorityQueueHarness();
});

describe('PriorityQueue turns of REALTIME and aged requests', () => {
  const fill = (letters: string, model = 'm') =>
    [...letters].forEach((letter, index) => {
      const id = `${letter}${index}${model}`;
      if (letter === 'a') harness.batch(id, index, model);
      else harness.realtime(id, index, model);
    });
  const turns = (nowMs: number, count = Infinity) => {
    let drawn = '';
    for (let id = harness.takeOne(nowMs); id !== undefined; id = harness.takeOne(nowMs)) {
      drawn += id[0];
      if (drawn.length === count) break;
    }
    return drawn;
  };

  it('gives an aged request one turn in four, however old the backlog is, and the rest in order', () => {
    fill('aaaaaRRRRRRRRRR');
    expect(turns(AGING_MS + 100)).toBe('RRRaRRRaRRRaRaa');
  });

  it('waits for the turn of an aged request that cannot go yet, and shows no other lane of its model', () => {
    fill('aaRRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    const shown: boolean[] = [];
    harness.queue.pick(AGING_MS + 100, (_lane, aged) => {
      shown.push(aged);
      return undefined;
    });
    expect([shown, harness.queue.turnOf('m', AGING_MS + 100)]).toEqual([
      [true],
      RequestPriority.BATCH,
    ]);
    expect(turns(AGING_MS + 100)).toBe('aRa');
  });
});

describe('PriorityQueue promotions', () => {
  const promoted = (nowMs: number) => harness.queue.aged(nowMs).map(({ id }) => id);

  it('reports each request once, when it is 30 s old', () => {
    harness.batch('a', 0);
    harness.batch('b', 10);
    harness.batch('c', 10, 'other');
    harness.realtime('d', 0);
    expect(promoted(AGING_MS - 1)).toEqual([]);
    expect(promoted(AGING_MS)).toEqual(['a']);
    expect(promoted(AGING_MS + 10).sort()).toEqual(['b', 'c']);
    expect(promoted(AGING_MS + 20)).toEqual([]);
  });

  it('reports what aged behind one that left, and one that was re-queued again', () => {
    ['a', 'b', 'c'].forEach((id, index) => harness.batch(id, index));
    expect(promoted(AGING_MS)).toEqual(['a']);
    const [a] = harness.queue.pick(AGING_MS, lane => harness.queue.take(lane, 1)) ?? [];
    harness.queue.remove(aKey('b'));
    harness.queue.restore(a!);
    expect(promoted(AGING_MS + 1)).toEqual(['a']);
    expect(promoted(AGING_MS + 2)).toEqual(['c']);
  });
});
