import { describe, expect, it } from '@jest/globals';
import { FairLine } from './fair-line.js';
import { TenantCounters } from './tenant-counters.js';

describe('TenantCounters', () => {
  it('lifts a tenant who comes back to the least of those who are here: idle time is not saved up', () => {
    const counters = new TenantCounters();
    counters.join('busy');
    counters.join('busier');
    counters.charge('busy', 100);
    counters.charge('busier', 300);
    counters.join('idle');
    expect(counters.served('idle')).toBe(100);
  });

  it('keeps what a tenant is ahead while it is away, and forgets it when the others have caught up', () => {
    const counters = new TenantCounters();
    counters.join('a');
    counters.join('b');
    counters.charge('a', 50);
    counters.leave('a');
    expect(counters.served('a')).toBe(50);
    counters.join('a');
    counters.charge('b', 80);
    counters.leave('a');
    expect([counters.served('a'), counters.size]).toEqual([0, 1]);
    counters.leave('b');
    expect(counters.size).toBe(0);
  });
});

describe('FairLine', () => {
  const line = (counters: TenantCounters) => new FairLine<{ tenant: string; key: number }>(counters, 100);
  const all = () => true;

  it('has the tenant that was served least first, and within a tenant the oldest', () => {
    const counters = new TenantCounters();
    const waiting = line(counters);
    for (const tenant of ['a', 'a', 'b']) counters.join(tenant);
    counters.charge('a', 1);
    const [old, young, other] = [1, 2, 3].map(key => ({ tenant: key === 3 ? 'b' : 'a', key }));
    for (const item of [young!, old!, other!]) waiting.add(item);
    expect(waiting.first(10, all)).toBe(other);
    waiting.remove(other!);
    expect(waiting.first(10, all)).toBe(old);
    expect(waiting.first(10, item => item !== old)).toBe(young);
  });

  it('puts class before fairness, until one of a lower class has waited for its width of 100 ms', () => {
    const counters = new TenantCounters();
    const waiting = line(counters);
    for (const tenant of ['greedy', 'modest']) counters.join(tenant);
    counters.charge('greedy', 1000);
    const realtime = { tenant: 'greedy', key: 50 };
    const batch = { tenant: 'modest', key: 100 + 0 };
    waiting.add(realtime);
    waiting.add(batch);
    expect([waiting.first(99, all), waiting.first(100, all)]).toEqual([realtime, batch]);
  });
});
