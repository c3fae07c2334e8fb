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
  const turns = (nowMs: number, count = Infinity): string => {
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

  it('keeps the order of each side: first in, first out', () => {
    fill('aaRRRRRR');
    expect(harness.takeAll(AGING_MS + 100)).toBe('R2mR3mR4ma0mR5mR6mR7ma1m');
  });

  it('lets nothing of it count before 30 s', () => {
    fill('aaRRRRRR');
    expect(turns(AGING_MS - 1)).toBe('RRRRRRaa');
  });

  it('counts for each model apart', () => {
    fill('aaRRRRRR', 'm');
    fill('aaRRRRRR', 'n');
    expect(
      harness
        .takeAll(AGING_MS + 100)
        .match(/[aR]\dm/g)
        ?.join(''),
    ).toBe('R2mR3mR4ma0mR5mR6mR7ma1m');
  });

  it('begins again with REALTIME when an aged request went while no REALTIME waited', () => {
    fill('aaaaRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    expect(turns(AGING_MS + 100, 1)).toBe('a');
    harness.realtime('R7', AGING_MS);
    expect(turns(AGING_MS + 100)).toBe('Raaa');
  });

  it('does not lose count when the only REALTIME request hangs up', () => {
    fill('aRRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    harness.queue.remove(aKey('R4m'));
    harness.realtime('R9', 50);
    expect(turns(AGING_MS + 100)).toBe('aR');
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

  it('serves by age alone with a share of 1, as before', () => {
    harness = new PriorityQueueHarness({ agingShare: 1 });
    harness.batch('b', 1_000);
    harness.realtime('a', 500);
    harness.realtime('c', 1_500);
    harness.batch('d', 2_000);
    expect(harness.takeAll(1_000 + AGING_MS)).toBe('abcd');
  });

  it('lists in the order of the turns to come', () => {
    fill('aaaRRRR');
    const listed = harness.queue
      .snapshot(AGING_MS + 100)
      .map(({ request, position }) => `${request.id[0]}${position}`);
    expect(listed.join(' ')).toBe('R1 R2 R3 a4 R5 a6 a7');
    expect(turns(AGING_MS + 100)).toBe('RRRaRaa');
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
