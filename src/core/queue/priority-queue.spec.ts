import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGING_MS, PriorityQueueHarness } from '../../../test/support/priority-queue-harness.js';
import { aKey, aRequest } from '../../../test/support/requests.js';
import { RequestPriority } from '../request/request-priority.js';
import { listingOf, placeIn } from './queue-places.js';

let harness: PriorityQueueHarness;

beforeEach(() => {
  harness = new PriorityQueueHarness();
});

describe('PriorityQueue order', () => {
  it('says of each lane whether its head is aged', () => {
    harness.batch('a', 0, 'm1');
    harness.batch('b', 1, 'm2');
    harness.realtime('c', 2, 'm3');
    const shown: string[] = [];
    harness.queue.pick(AGING_MS, (lane, aged) => {
      shown.push(`${lane.model}:${aged ? 'aged' : lane.priority}`);
      return undefined;
    });
    expect(shown).toEqual(['m1:aged', 'm3:0', 'm2:1']);
  });

  it('takes up to 3 of a lane, oldest first, and fewer when fewer wait', () => {
    ['a', 'b', 'c', 'd'].forEach((id, index) => harness.batch(id, index));
    const take = () =>
      harness.queue.pick(10, lane => harness.queue.take(lane, 3).map(({ id }) => id));
    expect([take(), take(), take()]).toEqual([['a', 'b', 'c'], ['d'], undefined]);
  });

  it('gives up what has reached its deadline, the earliest first, each once', () => {
    for (const [id, queueDeadlineMs] of Object.entries({ a: 20, b: 10, c: 30 }))
      harness.queue.enqueue(aRequest(id, { queueDeadlineMs }));
    const expired = (nowMs: number) => harness.queue.expired(nowMs).map(({ id }) => id);
    expect([9, 20, 20].map(expired)).toEqual([[], ['b', 'a'], []]);
    expect(harness.takeAll(20)).toBe('c');
  });

  it('keeps all lanes when whoever chooses throws', () => {
    harness.batch('a', 1, 'm1');
    harness.batch('b', 2, 'm2');
    const choose = () =>
      harness.queue.pick(10, lane => {
        if (lane.model === 'm2') throw new Error('defect');
        return undefined;
      });
    expect(choose).toThrow('defect');
    expect(harness.takeAll(10)).toBe('ab');
  });
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

describe('PriorityQueue by id', () => {
  it('finds, removes and forgets by id', () => {
    harness.batch('a', 1);
    harness.batch('b', 2);
    expect([harness.queue.get(aKey('a')) !== undefined, harness.queue.get(aKey('a'))?.id]).toEqual([
      true,
      'a',
    ]);
    expect(harness.queue.remove(aKey('a'))?.id).toBe('a');
    expect([
      harness.queue.get(aKey('a')) !== undefined,
      harness.queue.get(aKey('a')),
      harness.queue.remove(aKey('a')),
    ]).toEqual([false, undefined, undefined]);
    expect(harness.takeAll(10)).toBe('b');
  });

  it('refuses an id that waits already, and takes it again afterwards', () => {
    harness.batch('a', 1);
    expect(() => harness.realtime('a', 2)).toThrow(
      expect.objectContaining({ code: 'duplicate_request_id' }),
    );
    expect(() => harness.queue.restore(aRequest('a'))).toThrow(
      expect.objectContaining({ code: 'duplicate_request_id' }),
    );
    expect(harness.queue.depth).toBe(1);
    harness.queue.remove(aKey('a'));
    harness.batch('a', 3);
    expect(harness.takeAll(10)).toBe('a');
  });
});

describe('PriorityQueue counts', () => {
  it('knows nothing of a model nobody asked for', () => {
    expect(harness.queue.depthOf('unknown')).toEqual({ realtime: 0, batch: 0, bytes: 0 });
  });
});

describe('PriorityQueue snapshot', () => {
  it('lists in dispatch order with the place in the own model and the aged ones marked', () => {
    harness.batch('a', 0, 'm1');
    harness.realtime('b', 10, 'm1');
    harness.realtime('c', 20, 'm2');
    harness.batch('d', 5_000, 'm1');
    harness.batch('e', 6_000, 'm2');
    const listed = listingOf(harness.queue, AGING_MS).map(
      ({ request, position, aged }) => `${request.id}${position}${aged ? '!' : ''}`,
    );
    expect(listed).toEqual(['b1', 'a2!', 'c1', 'd3', 'e2']);
    const all = listingOf(harness.queue, AGING_MS);
    expect(all.map(({ request }) => placeIn(harness.queue, request.key, AGING_MS))).toMatchObject(
      all.map(({ request: { id }, position, aged }) => ({ request: { id }, position, aged })),
    );
  });

  it.each([0, AGING_MS])(
    'puts what a suspect tenant sent behind the others until it has aged, as the queue does (at %j ms)',
    nowMs => {
      const { queue } = harness;
      const add = (id: string, tenant: string, enqueuedAtMs: number): void =>
        queue.enqueue({ ...aRequest(id, { enqueuedAtMs }), tenant });
      add('s1', 's', -2);
      add('s2', 's', -1);
      ['a1', 'a2', 'a3'].forEach(id => add(id, 'a', 0));
      queue.suspect('m', 's');
      const listed = listingOf(queue, nowMs).map(({ request: { id } }) => id);
      const places = [...listed].map(id => placeIn(queue, aKey(id), nowMs)?.position);
      const next = () => queue.pick(nowMs, lane => queue.take(lane, 1, nowMs)[0])?.id;
      const sent = Array.from(listed, next);
      expect(sent.join(' ')).toBe(nowMs === 0 ? 'a1 a2 a3 s1 s2' : 's1 a1 s2 a2 a3');
      expect([listed, places]).toEqual([sent, [1, 2, 3, 4, 5]]);
    },
  );

  it('has no place for a request that does not wait', () => {
    harness.batch('a', 0);
    harness.queue.remove(aKey('a'));
    expect(placeIn(harness.queue, aKey('a'), 0)).toBeUndefined();
  });
});
