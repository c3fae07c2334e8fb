import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGING_MS, PriorityQueueHarness } from '../../../test/support/priority-queue-harness.js';
import { aKey, aRealtimeRequest, aRequest } from '../../../test/support/requests.js';

let harness: PriorityQueueHarness;

beforeEach(() => {
  harness = new PriorityQueueHarness();
});

describe('PriorityQueue order', () => {
  it('gives nothing while empty', () => {
    expect(harness.takeOne(0)).toBeUndefined();
    expect(harness.queue.nextDeadlineMs).toBeUndefined();
  });

  it('serves one level first in, first out', () => {
    harness.batch('a', 1);
    harness.batch('b', 2);
    harness.batch('c', 2);
    expect(harness.takeAll(10)).toBe('abc');
  });

  it('serves REALTIME before BATCH that came earlier', () => {
    harness.batch('b', 1);
    harness.batch('c', 2);
    harness.realtime('a', 3);
    expect(harness.takeAll(10)).toBe('abc');
  });

  it('serves the oldest head across models', () => {
    harness.batch('b', 2, 'm2');
    harness.batch('a', 1, 'm1');
    harness.batch('d', 4, 'm1');
    harness.batch('c', 3, 'm3');
    expect(harness.takeAll(10)).toBe('abcd');
  });

  it('serves REALTIME of any model before BATCH of any other', () => {
    harness.batch('c', 1, 'm1');
    harness.realtime('b', 3, 'm3');
    harness.realtime('a', 2, 'm2');
    expect(harness.takeAll(10)).toBe('abc');
  });

  it('leaves BATCH of 29.999 s behind REALTIME', () => {
    harness.batch('b', 1_000);
    harness.realtime('a', 20_000);
    expect(harness.takeAll(999 + AGING_MS)).toBe('ab');
  });

  it('shows the aged head of one model before younger REALTIME of another', () => {
    harness.batch('a', 0, 'old');
    harness.realtime('b', 1, 'other');
    expect(harness.takeAll(AGING_MS)).toBe('ab');
  });

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

  it('lets a model that cannot go hold up no other, and forgets nothing of it', () => {
    harness.realtime('a', 1, 'stuck');
    harness.batch('b', 2, 'stuck');
    harness.batch('c', 3, 'free');
    expect(harness.takeOne(10, ['stuck'])).toBe('c');
    expect(harness.takeOne(10, ['stuck'])).toBeUndefined();
    expect(harness.takeAll(10)).toBe('ab');
  });

  it('takes up to 3 of a lane, oldest first, and fewer when fewer wait', () => {
    ['a', 'b', 'c', 'd'].forEach((id, index) => harness.batch(id, index));
    const take = () =>
      harness.queue.pick(10, lane => harness.queue.take(lane, 3).map(({ id }) => id));
    expect([take(), take(), take()]).toEqual([['a', 'b', 'c'], ['d'], undefined]);
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

  it('returns a re-queued request to its place and its age', () => {
    harness.batch('a', 1);
    harness.batch('b', 1);
    harness.batch('c', 5);
    const [a] = harness.queue.pick(10, lane => harness.queue.take(lane, 1)) ?? [];
    if (a !== undefined) harness.queue.restore(a);
    harness.realtime('d', AGING_MS);
    expect(harness.takeAll(AGING_MS + 1)).toBe('dabc');
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

  it('shows the next head after the head was removed', () => {
    harness.batch('a', 1, 'm1');
    harness.batch('c', 5, 'm1');
    harness.batch('b', 2, 'm2');
    harness.queue.remove(aKey('a'));
    expect(harness.takeAll(10)).toBe('bc');
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
  it('knows depth and bytes by model and by priority, exactly', () => {
    harness.queue.enqueue(aRequest('a', { model: 'm1', bytes: 10 }));
    harness.queue.enqueue(aRequest('b', { model: 'm1', bytes: 20 }));
    harness.queue.enqueue(aRealtimeRequest('c', { model: 'm1', bytes: 5 }));
    harness.queue.enqueue(aRealtimeRequest('d', { model: 'm2', bytes: 1 }));
    expect([harness.queue.depth, harness.queue.bytes, harness.queue.depthByPriority()]).toEqual([
      4,
      36,
      { realtime: 2, batch: 2 },
    ]);
    expect(harness.queue.depthOf('m1')).toEqual({ realtime: 1, batch: 2, bytes: 35 });
    expect(harness.queue.depthOf('m2')).toEqual({ realtime: 1, batch: 0, bytes: 1 });
    expect(harness.queue.lanes.map(({ model }) => model)).toEqual(['m1', 'm2', 'm1']);
  });

  it('is back at 0 after takes, removals and expiries', () => {
    harness.queue.enqueue(aRequest('a', { bytes: 10 }));
    harness.queue.enqueue(aRequest('b', { bytes: 10 }));
    harness.queue.enqueue(aRealtimeRequest('c', { bytes: 10, queueDeadlineMs: 5 }));
    harness.queue.expired(5);
    harness.queue.remove(aKey('b'));
    harness.takeOne(10);
    expect([harness.queue.depth, harness.queue.bytes, harness.queue.depthByPriority()]).toEqual([
      0,
      0,
      { realtime: 0, batch: 0 },
    ]);
    expect([harness.queue.depthOf('m'), harness.queue.lanes]).toEqual([
      { realtime: 0, batch: 0, bytes: 0 },
      [],
    ]);
  });

  it('knows nothing of a model nobody asked for', () => {
    expect(harness.queue.depthOf('unknown')).toEqual({
      realtime: 0,
      batch: 0,
      bytes: 0,
    });
  });
});

describe('PriorityQueue deadlines', () => {
  it('expires at the deadline, not 1 ms before, earliest first', () => {
    harness.queue.enqueue(aRequest('b', { queueDeadlineMs: 200 }));
    harness.queue.enqueue(aRequest('a', { queueDeadlineMs: 100, enqueuedAtMs: 50 }));
    harness.queue.enqueue(aRequest('c', { queueDeadlineMs: 300 }));
    expect(harness.queue.nextDeadlineMs).toBe(100);
    expect(harness.queue.expired(99)).toEqual([]);
    expect(harness.queue.expired(200).map(({ id }) => id)).toEqual(['a', 'b']);
    expect([harness.queue.depth, harness.queue.nextDeadlineMs]).toEqual([1, 300]);
  });

  it('forgets the deadline of a request that was taken', () => {
    harness.batch('a', 0);
    harness.batch('b', 10);
    harness.takeOne(20);
    expect(harness.queue.nextDeadlineMs).toBe(120_010);
    expect(harness.queue.expired(120_009)).toEqual([]);
  });
});

describe('PriorityQueue snapshot', () => {
  it('lists in dispatch order with the place in the own model and the aged ones marked', () => {
    harness.batch('a', 0, 'm1');
    harness.realtime('b', 10, 'm1');
    harness.realtime('c', 20, 'm2');
    harness.batch('d', 5_000, 'm1');
    harness.batch('e', 6_000, 'm2');
    const listed = harness.queue
      .snapshot(AGING_MS)
      .map(({ request, position, aged }) => `${request.id}${position}${aged ? '!' : ''}`);
    expect(listed).toEqual(['b1', 'a2!', 'c1', 'd3', 'e2']);
    const all = harness.queue.snapshot(AGING_MS);
    expect(all.map(({ request }) => harness.queue.place(request.key, AGING_MS))).toMatchObject(
      all.map(({ request: { id }, position, aged }) => ({
        request: { id },
        position,
        aged,
      })),
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
      const listed = queue.snapshot(nowMs).map(({ request: { id } }) => id);
      const places = [...listed].map(id => queue.place(aKey(id), nowMs)?.position);
      const next = () => queue.pick(nowMs, lane => queue.take(lane, 1, nowMs)[0])?.id;
      const sent = Array.from(listed, next);
      expect(sent.join(' ')).toBe(nowMs === 0 ? 'a1 a2 a3 s1 s2' : 's1 a1 s2 a2 a3');
      expect([listed, places]).toEqual([sent, [1, 2, 3, 4, 5]]);
    },
  );

  it('has no place for a request that does not wait', () => {
    harness.batch('a', 0);
    harness.queue.remove(aKey('a'));
    expect(harness.queue.place(aKey('a'), 0)).toBeUndefined();
  });

  it('takes nothing out', () => {
    harness.batch('a', 0);
    harness.queue.snapshot(0);
    harness.queue.place(aKey('a'), 0);
    expect(harness.queue.depth).toBe(1);
  });
});
