import { describe, expect, it } from '@jest/globals';
import { Entry } from './account.js';
import { FairLane } from './fair-lane.js';
import { FairOrder } from './fair-order.js';

const WIDTH_MS = 100;

const anOrder = (agingShare = 0.25) =>
  new FairOrder<string>({
    realtime: new FairLane(() => 1),
    batch: new FairLane(() => 1),
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
): void {
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
function turns(order: FairOrder<string>, nowMs: number, count: number): string {
  let taken = '';
  for (let entry = order.first(nowMs); entry && taken.length < count; entry = order.first(nowMs)) {
    taken += entry.item;
    order.take(entry, nowMs);
  }
  return taken;
}

describe('FairOrder', () => {
  it('has the tenant that was served least first, and within a tenant the oldest', () => {
    const order = anOrder();
    add(order, '2', { sinceMs: 2 });
    add(order, '1', { sinceMs: 1 });
    add(order, 'b', { tenant: 'b', sinceMs: 3 });
    order.batch.charge('a', 1);
    expect(turns(order, 10, 1)).toBe('b');
    expect(order.first(10)?.item).toBe('1');
    expect(order.first(10, item => item !== '1')?.item).toBe('2');
  });

  it('orders by class before fairness; a lower class gets its turns once it waited for its width of 100 ms', () => {
    const order = anOrder();
    order.realtime.charge('greedy', 1000);
    for (let count = 0; count < 20; count += 1)
      add(order, 'R', { tenant: 'greedy', sinceMs: 50, isRealtime: true });
    for (let count = 0; count < 5; count += 1) add(order, 'b', { tenant: 'modest' });
    expect(turns(order, 99, 5)).toBe('RRRRR');
    expect(turns(order, 100, 8)).toBe('RRRbRRRb');
  });

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

  it('begins with REALTIME again after a turn without a competitor', () => {
    const order = anOrder();
    for (let count = 0; count < 4; count += 1) add(order, 'b');
    for (let count = 0; count < 3; count += 1) add(order, 'R', { isRealtime: true });
    expect(turns(order, 200, 5)).toBe('RRRbb');
    for (let count = 0; count < 3; count += 1) add(order, 'R', { isRealtime: true });
    expect(turns(order, 200, 5)).toBe('RRRbb');
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
