import { describe, expect, it } from '@jest/globals';
import { Entry } from './account.js';
import { FairOrder } from './fair-order.js';
import { WeightedLane } from './weighted-lane.js';

const WIDTH_MS = 100;

const anOrder = (agingShare = 0.25) =>
  new FairOrder<string>({
    realtime: new WeightedLane(() => 1),
    batch: new WeightedLane(() => 1),
    agingShare,
  });

interface Arrival {
  readonly tenant?: string;
  readonly sinceMs?: number;
  readonly isRealtime?: boolean;
  readonly agesAtMs?: number;
}

function add(
  order: FairOrder<string>,
  item: string,
  { tenant = 'a', sinceMs = 0, ...rest }: Arrival = {},
) {
  const { isRealtime = false, agesAtMs = sinceMs + WIDTH_MS } = rest;
  const place = {
    isRealtime,
    tenant,
    sinceMs,
    orderMs: sinceMs,
    agesAtMs,
    costMs: 1,
    bytes: 0,
  };
  order.append(new Entry(item, place));
}

/** Items in the order of their turns at a time. */
function turns(order: FairOrder<string>, nowMs: number, count: number) {
  let taken = '';
  for (let entry = order.first(nowMs); entry && taken.length < count; entry = order.first(nowMs)) {
    taken += entry.item;
    order.take(entry, nowMs);
  }
  return taken;
}

describe('FairOrder', () => {
  it('gives those that come as aged their own share, and with a share of 1 their place among equals', () => {
    const drawn = [0.5, 0.3, 1].map(share => {
      const order = anOrder(0.25);
      order.agingShare = share;
      for (let count = 0; count < 6; count += 1) {
        add(order, 'R', { sinceMs: 50 + count, isRealtime: true });
        add(order, 'b', { sinceMs: 49.5 + count, agesAtMs: -Infinity });
      }
      return turns(order, 60, 6);
    });
    expect(drawn).toEqual(['RbRbRb', 'RRRbRR', 'bRbRbR']);
  });

  it('lists the order in which entries leave, and goes on from where another one is', () => {
    const order = anOrder();
    const other = anOrder();
    for (const one of [order, other]) {
      for (let count = 0; count < 6; count += 1)
        add(one, 'R', { isRealtime: true, sinceMs: count });
      for (let count = 0; count < 3; count += 1) add(one, 'b', { sinceMs: count });
    }
    turns(order, 200, 2);
    other.resume(order);
    expect(Array.from(order.inOrder(200), ({ item }) => item).join('')).toBe('RbRRRbb');
    expect(turns(order, 200, 9)).toBe('RbRRRbb');
    expect(turns(other, 200, 3)).toBe('RbR');
  });
});
