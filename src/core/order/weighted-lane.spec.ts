import { describe, expect, it } from '@jest/globals';
import { Entry } from './account.js';
import { WeightedLane } from './weighted-lane.js';

interface Work {
  readonly tenant?: string;
  readonly sinceMs?: number;
  readonly orderMs?: number;
  readonly costMs?: number;
  readonly agesAtMs?: number;
}

function anEntry(
  id: string,
  { tenant = 't', sinceMs = 0, orderMs = sinceMs, costMs = 1, agesAtMs }: Work = {},
) {
  const place = {
    isRealtime: false,
    tenant,
    sinceMs,
    orderMs,
    costMs,
    agesAtMs: agesAtMs ?? sinceMs,
    bytes: 10,
  };
  return new Entry(id, place);
}

/** A lane of which each call serves the next entry; prints its tenants. */
function served(lane: WeightedLane<string>, count: number) {
  let tenants = '';
  for (let left = count; left > 0; left -= 1) {
    const entry = lane.next();
    if (entry === undefined) break;
    tenants += entry.place.tenant;
    lane.take(entry);
  }
  return tenants;
}

const aLane = (weights: Record<string, number> = {}) =>
  new WeightedLane<string>(tenant => weights[tenant] ?? 1);

function fill(lane: WeightedLane<string>, tenant: string, count: number, costMs = 1) {
  for (let index = 0; index < count; index += 1)
    lane.append(
      anEntry(`${tenant}${index}`, { tenant, costMs, sinceMs: index + (tenant === 'b' ? 0.5 : 0) }),
    );
}

describe('WeightedLane: tenants', () => {
  it('serves two tenants in turn, however many requests one of them has', () => {
    const lane = aLane();
    fill(lane, 'a', 6);
    fill(lane, 'b', 3);
    expect(served(lane, 9)).toBe('abababaaa');
  });

  it('starts a tenant that was away where the others are: it saves up nothing', () => {
    const lane = aLane();
    fill(lane, 'a', 8);
    expect(served(lane, 4)).toBe('aaaa');
    fill(lane, 'b', 4);
    expect(served(lane, 8)).toBe('bbababaa');
  });

  it('counts work, not requests: one of 4 ms is worth four of 1 ms', () => {
    const lane = aLane();
    fill(lane, 'a', 5, 4);
    fill(lane, 'b', 20, 1);
    expect([...served(lane, 15)].filter(tenant => tenant === 'b')).toHaveLength(12);
  });

  it('one whose work goes on meanwhile is charged for it by its weight, which may change', () => {
    const weights: Record<string, number> = { a: 1 };
    const lane = aLane(weights);
    fill(lane, 'a', 4);
    fill(lane, 'b', 9);
    served(lane, 1);
    weights.a = 3;
    lane.charge('a', 9);
    expect(served(lane, 6)).toBe('bbbbab');
  });

  it('forgets idle tenants: at most 1000 accounts beside those that wait', () => {
    const lane = aLane();
    for (let index = 0; index < 5000; index += 1) {
      const entry = anEntry(`r${index}`, { tenant: `t${index}` });
      lane.append(entry);
      lane.take(entry);
    }
    expect(lane.accounts).toBeLessThanOrEqual(1000);
  });

  it('passes over what may not go now, and within a tenant takes the oldest that may', () => {
    const lane = aLane();
    fill(lane, 'a', 3);
    fill(lane, 'b', 1);
    served(lane, 1);
    expect(lane.next(false, id => id !== 'b0')?.item).toBe('a1');
    expect(lane.next(false, id => id === 'a2')?.item).toBe('a2');
    expect(lane.next(false, () => false)).toBeUndefined();
  });

  it('in an aged turn takes the tenant whose next entry is aged, whatever the others have had', () => {
    const lane = aLane();
    lane.append(anEntry('old', { tenant: 'a', sinceMs: 0, agesAtMs: 50 }));
    served(lane, 1);
    lane.append(anEntry('older', { tenant: 'a', sinceMs: 1, agesAtMs: 51 }));
    lane.append(anEntry('young', { tenant: 'b', sinceMs: 60, agesAtMs: 110 }));
    expect([lane.hasAged(50), lane.hasAged(51)]).toEqual([false, true]);
    expect([lane.next(true)?.item, lane.next(false)?.item]).toEqual(['older', 'young']);
  });
});
