import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SharedBound } from './shared-bound.js';

/** Enters `count` entries of one tenant. @returns how many were admitted */
const fill = (bound: SharedBound, tenant: string, count: number, end?: () => void) =>
  Array.from({ length: count }, () => bound.enter(tenant, { end })).filter(leave => leave).length;

describe('SharedBound', () => {
  it('refuses the tenant that holds the most when it is full', () => {
    const bound = new SharedBound(3);
    expect(fill(bound, 'a', 5)).toBe(3);
    expect(bound.used).toBe(3);
  });

  it('ends the slowest entry of the tenant with the most for another tenant', () => {
    const bound = new SharedBound(3);
    const ended: string[] = [];
    for (const pace of [5, 1, 3])
      bound.enter('a', { pace: () => pace, end: () => ended.push(`a${pace}`) });
    expect(bound.enter('b')).toBeDefined();
    expect([ended, bound.used]).toEqual([['a1'], 3]);
  });

  it('of equally slow entries ends the oldest', () => {
    const bound = new SharedBound(2);
    const ended: number[] = [];
    for (const id of [1, 2]) bound.enter('a', { end: () => ended.push(id) });
    bound.enter('b');
    expect(ended).toEqual([1]);
  });

  it('ends nothing for a tenant that would hold as much as the one with the most', () => {
    const bound = new SharedBound(4);
    fill(bound, 'a', 2, () => undefined);
    expect(fill(bound, 'b', 4, () => undefined)).toBe(2);
  });

  it('ends nothing that must stay', () => {
    const bound = new SharedBound(2);
    fill(bound, 'a', 1);
    bound.enter('a', { end: () => undefined, pace: () => undefined });
    expect(bound.enter('b')).toBeUndefined();
  });

  it('leaves the reserve to urgent entries', () => {
    const bound = new SharedBound(4, 1);
    expect(fill(bound, 'a', 4)).toBe(3);
    expect(bound.enter('a', { urgent: true })).toBeDefined();
    expect(bound.enter('a', { urgent: true })).toBeUndefined();
  });

  it('ends as many entries as a large one needs, or none', () => {
    const bound = new SharedBound(10);
    const ended: number[] = [];
    for (const id of [1, 2, 3, 4, 5]) bound.enter('a', { size: 2, end: () => ended.push(id) });
    expect(bound.enter('b', { size: 6 })).toBeUndefined();
    expect(ended).toEqual([]);
    expect(bound.enter('b', { size: 4 })).toBeDefined();
    expect(ended).toEqual([1, 2]);
  });

  it('counts an entry that leaves twice once', () => {
    const bound = new SharedBound(2);
    const leave = bound.enter('a');
    bound.enter('a');
    leave?.();
    leave?.();
    expect(bound.used).toBe(1);
  });

  it('never holds more than its capacity, and never refuses who holds nothing while another has two that may end', () => {
    const step = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), steps => {
        const bound = new SharedBound(8);
        const open = new Map<string, (() => void)[]>();
        const forget = (leave: () => void) => {
          for (const [tenant, entries] of open)
            open.set(
              tenant,
              entries.filter(one => one !== leave),
            );
        };
        for (const { tenant, leaves } of steps) {
          const mine = open.get(tenant) ?? [];
          if (leaves) {
            mine[0]?.();
            open.set(tenant, mine.slice(1));
            continue;
          }
          const isRich = [...open].some(([name, entries]) => name !== tenant && entries.length > 1);
          const entered: { leave?: () => void } = {};
          const leave = bound.enter(tenant, { end: () => forget(entered.leave!) });
          if (mine.length === 0 && isRich) expect(leave).toBeDefined();
          if (!leave) continue;
          entered.leave = leave;
          open.set(tenant, [...(open.get(tenant) ?? []), leave]);
          expect(bound.used).toBeLessThanOrEqual(8);
        }
      }),
    );
  });
});
