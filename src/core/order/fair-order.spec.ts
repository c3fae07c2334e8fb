import { describe, expect, it } from '@jest/globals';
import { Entry } from './account.js';
import { FairLane } from './fair-lane.js';
import { FairOrder, AgingTurns } from './fair-order.js';

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

/** The first turns of a contest: `R` and `a`. */
function order(turns: AgingTurns, count: number) {
  let drawn = '';
  while (drawn.length < count) {
    const aged = turns.isAgedNext(1, 0);
    turns.taken(aged, true);
    drawn += aged ? 'a' : 'R';
  }
  return drawn;
}

describe('AgingTurns', () => {
  it.each([
    [0.25, 'RRRaRRRaRRRa'],
    [0.5, 'RaRaRaRa'],
    [0.3, 'RRRaRRaRRaRRRaRRaRRa'],
    [0.75, 'RaaaRaaaRaaa'],
    [0.01, 'R'.repeat(99) + 'a' + 'R'.repeat(99) + 'a'],
  ])('gives aged requests exactly %d of the turns: %s', (share, drawn) => {
    expect(order(new AgingTurns(share), drawn.length)).toBe(drawn);
  });

  it('serves by age alone with a share of 1', () => {
    const turns = new AgingTurns(1);
    expect([turns.isAgedNext(5, 4), turns.isAgedNext(5, 5), turns.isAgedNext(5, 6)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('looks ahead on a copy without counting', () => {
    const turns = new AgingTurns(0.25);
    expect(order(turns.copy(), 4)).toBe('RRRa');
    expect(order(turns, 4)).toBe('RRRa');
  });

  it.each([0, -0.1, 1.1, NaN])('refuses a share of %d', share => {
    expect(() => new AgingTurns(share)).toThrow(RangeError);
  });
});
