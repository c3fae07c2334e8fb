import { beforeEach, describe, expect, it } from '@jest/globals';
import { aKey, aRealtimeRequest, aRequest } from '../../../test/support/requests.js';
import { PriorityQueue } from './priority-queue.js';

const AGING_MS = 30_000;
let queue: PriorityQueue<undefined>;

beforeEach(() => {
  queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25 });
});

const batch = (id: string, enqueuedAtMs: number, model = 'm') => queue.enqueue(aRequest(id, { enqueuedAtMs, model }));
const realtime = (id: string, enqueuedAtMs: number, model = 'm') =>
  queue.enqueue(aRealtimeRequest(id, { enqueuedAtMs, model }));

/** Takes one request: the head of the best lane whose model is not held back. */
function takeOne(nowMs: number, heldModels: readonly string[] = []): string | undefined {
  return queue.pick(nowMs, lane =>
    heldModels.includes(lane.model) ? undefined : queue.take(lane, 1).map(({ id }) => id)[0],
  );
}

function takeAll(nowMs: number): string {
  let order = '';
  for (let id = takeOne(nowMs); id !== undefined; id = takeOne(nowMs)) order += id;
  return order;
}

describe('PriorityQueue order', () => {
  it('gives nothing while empty', () => {
    expect(takeOne(0)).toBeUndefined();
    expect(queue.nextDeadlineMs).toBeUndefined();
  });

  it('serves one level first in, first out', () => {
    batch('a', 1);
    batch('b', 2);
    batch('c', 2);
    expect(takeAll(10)).toBe('abc');
  });

  it('serves REALTIME before BATCH that came earlier', () => {
    batch('b', 1);
    batch('c', 2);
    realtime('a', 3);
    expect(takeAll(10)).toBe('abc');
  });

  it('serves the oldest head across models', () => {
    batch('b', 2, 'm2');
    batch('a', 1, 'm1');
    batch('d', 4, 'm1');
    batch('c', 3, 'm3');
    expect(takeAll(10)).toBe('abcd');
  });

  it('serves REALTIME of any model before BATCH of any other', () => {
    batch('c', 1, 'm1');
    realtime('b', 3, 'm3');
    realtime('a', 2, 'm2');
    expect(takeAll(10)).toBe('abc');
  });

  it('leaves BATCH of 29.999 s behind REALTIME', () => {
    batch('b', 1_000);
    realtime('a', 20_000);
    expect(takeAll(999 + AGING_MS)).toBe('ab');
  });

  it('shows the aged head of one model before younger REALTIME of another', () => {
    batch('a', 0, 'old');
    realtime('b', 1, 'other');
    expect(takeAll(AGING_MS)).toBe('ab');
  });

  it('says of each lane whether its head is aged', () => {
    batch('a', 0, 'm1');
    batch('b', 1, 'm2');
    realtime('c', 2, 'm3');
    const shown: string[] = [];
    queue.pick(AGING_MS, (lane, aged) => {
      shown.push(`${lane.model}:${aged ? 'aged' : lane.priority}`);
      return undefined;
    });
    expect(shown).toEqual(['m1:aged', 'm3:0', 'm2:1']);
  });

  it('lets a model that cannot go hold up no other, and forgets nothing of it', () => {
    realtime('a', 1, 'stuck');
    batch('b', 2, 'stuck');
    batch('c', 3, 'free');
    expect(takeOne(10, ['stuck'])).toBe('c');
    expect(takeOne(10, ['stuck'])).toBeUndefined();
    expect(takeAll(10)).toBe('ab');
  });

  it('takes up to 3 of a lane, oldest first, and fewer when fewer wait', () => {
    ['a', 'b', 'c', 'd'].forEach((id, index) => batch(id, index));
    const take = () => queue.pick(10, lane => queue.take(lane, 3).map(({ id }) => id));
    expect([take(), take(), take()]).toEqual([['a', 'b', 'c'], ['d'], undefined]);
  });

  it('keeps all lanes when whoever chooses throws', () => {
    batch('a', 1, 'm1');
    batch('b', 2, 'm2');
    const choose = () =>
      queue.pick(10, lane => {
        if (lane.model === 'm2') throw new Error('defect');
        return undefined;
      });
    expect(choose).toThrow('defect');
    expect(takeAll(10)).toBe('ab');
  });

  it('returns a re-queued request to its place and its age', () => {
    batch('a', 1);
    batch('b', 1);
    batch('c', 5);
    const [a] = queue.pick(10, lane => queue.take(lane, 1)) ?? [];
    if (a !== undefined) queue.restore(a);
    realtime('d', AGING_MS);
    expect(takeAll(AGING_MS + 1)).toBe('dabc');
  });
});

describe('PriorityQueue turns of REALTIME and aged requests', () => {
  const fill = (letters: string, model = 'm') =>
    [...letters].forEach((letter, index) => {
      const id = `${letter}${index}${model}`;
      if (letter === 'a') batch(id, index, model);
      else realtime(id, index, model);
    });
  const turns = (nowMs: number, count = Infinity): string => {
    let drawn = '';
    for (let id = takeOne(nowMs); id !== undefined; id = takeOne(nowMs)) {
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
    expect(takeAll(AGING_MS + 100)).toBe('R2mR3mR4ma0mR5mR6mR7ma1m');
  });

  it('lets nothing of it count before 30 s', () => {
    fill('aaRRRRRR');
    expect(turns(AGING_MS - 1)).toBe('RRRRRRaa');
  });

  it('counts for each model apart', () => {
    fill('aaRRRRRR', 'm');
    fill('aaRRRRRR', 'n');
    expect(
      takeAll(AGING_MS + 100)
        .match(/[aR]\dm/g)
        ?.join(''),
    ).toBe('R2mR3mR4ma0mR5mR6mR7ma1m');
  });

  it('begins again with REALTIME when an aged request went while no REALTIME waited', () => {
    fill('aaaaRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    expect(turns(AGING_MS + 100, 1)).toBe('a');
    realtime('R7', AGING_MS);
    expect(turns(AGING_MS + 100)).toBe('Raaa');
  });

  it('does not lose count when the only REALTIME request hangs up', () => {
    fill('aRRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    queue.remove(aKey('R4m'));
    realtime('R9', 50);
    expect(turns(AGING_MS + 100)).toBe('aR');
  });

  it('waits for the turn of an aged request that cannot go yet, and shows no other lane of its model', () => {
    fill('aaRRRR');
    expect(turns(AGING_MS + 100, 3)).toBe('RRR');
    const shown: boolean[] = [];
    queue.pick(AGING_MS + 100, (_lane, aged) => {
      shown.push(aged);
      return undefined;
    });
    expect([shown, queue.isAgedTurn('m', AGING_MS + 100)]).toEqual([[true], true]);
    expect(turns(AGING_MS + 100)).toBe('aRa');
  });

  it('serves by age alone with a share of 1, as before', () => {
    queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 1 });
    batch('b', 1_000);
    realtime('a', 500);
    realtime('c', 1_500);
    batch('d', 2_000);
    expect(takeAll(1_000 + AGING_MS)).toBe('abcd');
  });

  it('lists in the order of the turns to come', () => {
    fill('aaaRRRR');
    const listed = queue.snapshot(AGING_MS + 100).map(({ request, position }) => `${request.id[0]}${position}`);
    expect(listed.join(' ')).toBe('R1 R2 R3 a4 R5 a6 a7');
    expect(turns(AGING_MS + 100)).toBe('RRRaRaa');
  });
});

describe('PriorityQueue promotions', () => {
  const promoted = (nowMs: number) => queue.aged(nowMs).map(({ id }) => id);

  it('reports each request once, when it is 30 s old', () => {
    batch('a', 0);
    batch('b', 10);
    batch('c', 10, 'other');
    realtime('d', 0);
    expect(promoted(AGING_MS - 1)).toEqual([]);
    expect(promoted(AGING_MS)).toEqual(['a']);
    expect(promoted(AGING_MS + 10).sort()).toEqual(['b', 'c']);
    expect(promoted(AGING_MS + 20)).toEqual([]);
  });

  it('reports what aged behind one that left, and one that was re-queued again', () => {
    ['a', 'b', 'c'].forEach((id, index) => batch(id, index));
    expect(promoted(AGING_MS)).toEqual(['a']);
    const [a] = queue.pick(AGING_MS, lane => queue.take(lane, 1)) ?? [];
    queue.remove(aKey('b'));
    queue.restore(a!);
    expect(promoted(AGING_MS + 1)).toEqual(['a']);
    expect(promoted(AGING_MS + 2)).toEqual(['c']);
  });
});

describe('PriorityQueue by id', () => {
  it('finds, removes and forgets by id', () => {
    batch('a', 1);
    batch('b', 2);
    expect([queue.has(aKey('a')), queue.get(aKey('a'))?.id]).toEqual([true, 'a']);
    expect(queue.remove(aKey('a'))?.id).toBe('a');
    expect([queue.has(aKey('a')), queue.get(aKey('a')), queue.remove(aKey('a'))]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(takeAll(10)).toBe('b');
  });

  it('shows the next head after the head was removed', () => {
    batch('a', 1, 'm1');
    batch('c', 5, 'm1');
    batch('b', 2, 'm2');
    queue.remove(aKey('a'));
    expect(takeAll(10)).toBe('bc');
  });

  it('refuses an id that waits already, and takes it again afterwards', () => {
    batch('a', 1);
    expect(() => realtime('a', 2)).toThrow(expect.objectContaining({ code: 'duplicate_request_id' }));
    expect(() => queue.restore(aRequest('a'))).toThrow(expect.objectContaining({ code: 'duplicate_request_id' }));
    expect(queue.depth).toBe(1);
    queue.remove(aKey('a'));
    batch('a', 3);
    expect(takeAll(10)).toBe('a');
  });
});

describe('PriorityQueue counts', () => {
  it('knows depth and bytes by model and by priority, exactly', () => {
    queue.enqueue(aRequest('a', { model: 'm1', bytes: 10 }));
    queue.enqueue(aRequest('b', { model: 'm1', bytes: 20 }));
    queue.enqueue(aRealtimeRequest('c', { model: 'm1', bytes: 5 }));
    queue.enqueue(aRealtimeRequest('d', { model: 'm2', bytes: 1 }));
    expect([queue.depth, queue.bytes, queue.depthByPriority()]).toEqual([4, 36, { realtime: 2, batch: 2 }]);
    expect(queue.depthOf('m1')).toEqual({ realtime: 1, batch: 2, bytes: 35 });
    expect(queue.depthOf('m2')).toEqual({ realtime: 1, batch: 0, bytes: 1 });
    expect(queue.models()).toEqual(['m1', 'm2']);
  });

  it('is back at 0 after takes, removals and expiries', () => {
    queue.enqueue(aRequest('a', { bytes: 10 }));
    queue.enqueue(aRequest('b', { bytes: 10 }));
    queue.enqueue(aRealtimeRequest('c', { bytes: 10, queueDeadlineMs: 5 }));
    queue.expired(5);
    queue.remove(aKey('b'));
    takeOne(10);
    expect([queue.depth, queue.bytes, queue.depthByPriority()]).toEqual([0, 0, { realtime: 0, batch: 0 }]);
    expect([queue.depthOf('m'), queue.models()]).toEqual([{ realtime: 0, batch: 0, bytes: 0 }, []]);
  });

  it('knows nothing of a model nobody asked for', () => {
    expect(queue.depthOf('unknown')).toEqual({ realtime: 0, batch: 0, bytes: 0 });
  });
});

describe('PriorityQueue deadlines', () => {
  it('expires at the deadline, not 1 ms before, earliest first', () => {
    queue.enqueue(aRequest('b', { queueDeadlineMs: 200 }));
    queue.enqueue(aRequest('a', { queueDeadlineMs: 100, enqueuedAtMs: 50 }));
    queue.enqueue(aRequest('c', { queueDeadlineMs: 300 }));
    expect(queue.nextDeadlineMs).toBe(100);
    expect(queue.expired(99)).toEqual([]);
    expect(queue.expired(200).map(({ id }) => id)).toEqual(['a', 'b']);
    expect([queue.depth, queue.nextDeadlineMs]).toEqual([1, 300]);
  });

  it('forgets the deadline of a request that was taken', () => {
    batch('a', 0);
    batch('b', 10);
    takeOne(20);
    expect(queue.nextDeadlineMs).toBe(120_010);
    expect(queue.expired(120_009)).toEqual([]);
  });
});

describe('PriorityQueue snapshot', () => {
  it('lists in dispatch order with the place in the own model and the aged ones marked', () => {
    batch('a', 0, 'm1');
    realtime('b', 10, 'm1');
    realtime('c', 20, 'm2');
    batch('d', 5_000, 'm1');
    batch('e', 6_000, 'm2');
    const listed = queue
      .snapshot(AGING_MS)
      .map(({ request, position, aged }) => `${request.id}${position}${aged ? '!' : ''}`);
    expect(listed).toEqual(['b1', 'a2!', 'c1', 'd3', 'e2']);
  });

  it('takes nothing out', () => {
    batch('a', 0);
    queue.snapshot(0);
    expect(queue.depth).toBe(1);
  });
});
