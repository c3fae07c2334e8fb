import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { RequestPriority } from '../request/request-priority.js';
import { ModelLane } from './model-lane.js';

const aLane = (): ModelLane<undefined> => new ModelLane<undefined>('m', RequestPriority.BATCH);
const at = (id: string, enqueuedAtMs: number) => aRequest(id, { enqueuedAtMs, bytes: 10 });
const ids = (lane: ModelLane<undefined>): string => [...lane].map(({ id }) => id).join('');

describe('ModelLane', () => {
  it('is empty at first, and says so to whoever asks for its ends', () => {
    const lane = aLane();
    expect(lane).toMatchObject({ size: 0, bytes: 0, head: undefined });
    expect([lane.firstEnqueuedAtMs, lane.lastEnqueuedAtMs]).toEqual([Infinity, -Infinity]);
  });

  it('keeps newcomers in order of enqueue, equals first come first served', () => {
    const lane = aLane();
    [at('a', 1), at('b', 2), at('c', 2), at('d', 2)].forEach(request => lane.append(request));
    expect(ids(lane)).toBe('abcd');
    expect([lane.firstEnqueuedAtMs, lane.lastEnqueuedAtMs]).toEqual([1, 2]);
  });

  it('gives a re-queued request its old place: ahead of its equals', () => {
    const lane = aLane();
    const head = lane.append(at('a', 2));
    [at('b', 2), at('c', 3)].forEach(request => lane.append(request));
    lane.remove(head);
    lane.restore(head.request);
    expect(ids(lane)).toBe('abc');
  });

  it('re-queues into the middle and to the end as age demands', () => {
    const lane = aLane();
    [at('a', 1), at('d', 4)].forEach(request => lane.append(request));
    lane.restore(at('c', 3));
    lane.restore(at('e', 5));
    expect(ids(lane)).toBe('acde');
  });

  it('lets anybody leave: head, middle, tail and the last one', () => {
    const lane = aLane();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id, index) => lane.append(at(id, index)));
    const remaining = [b, d, a, c].map(node => {
      if (node !== undefined) lane.remove(node);
      return ids(lane);
    });
    expect(remaining).toEqual(['acd', 'ac', 'c', '']);
    expect(lane).toMatchObject({ size: 0, bytes: 0, head: undefined });
  });

  it('counts requests and bytes exactly', () => {
    const lane = aLane();
    const node = lane.append(at('a', 1));
    lane.append(at('b', 2));
    expect([lane.size, lane.bytes]).toEqual([2, 20]);
    lane.remove(node);
    expect([lane.size, lane.bytes]).toEqual([1, 10]);
  });
});
