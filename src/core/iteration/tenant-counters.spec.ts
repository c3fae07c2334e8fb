import { describe, expect, it } from '@jest/globals';
import { FairQueue, type Placed } from './fair-queue.js';
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

  it('charges a tenant less by its weight, which may change while it is here', () => {
    const counters = new TenantCounters();
    counters.join('plain');
    counters.join('weighty', 3);
    for (const tenant of ['plain', 'weighty']) counters.charge(tenant, 30);
    expect([counters.served('plain'), counters.served('weighty')]).toEqual([30, 10]);
    counters.join('weighty', 6);
    counters.charge('weighty', 30);
    expect(counters.served('weighty')).toBe(15);
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

describe('FairQueue', () => {
  const line = (counters: TenantCounters) => new FairQueue<Placed>(counters, 100);
  const placed = (tenant: string, key: number, priorityClass = 0, agingShare?: number): Placed => ({
    ...{ tenant, key, priorityClass, agingShare },
  });
  const all = () => true;

  it('has the tenant that was served least first, and within a tenant the oldest', () => {
    const counters = new TenantCounters();
    const waiting = line(counters);
    for (const tenant of ['a', 'a', 'b']) counters.join(tenant);
    counters.charge('a', 1);
    const [old, young, other] = [1, 2, 3].map(key => placed(key === 3 ? 'b' : 'a', key));
    for (const item of [young!, old!, other!]) waiting.add(item);
    expect(waiting.first(10, all)).toBe(other);
    waiting.remove(other!);
    expect(waiting.first(10, all)).toBe(old);
    expect(waiting.first(10, item => item !== old)).toBe(young);
  });

  it('orders by class before fairness; a lower class gets its turns once it waited for its width of 100 ms', () => {
    const counters = new TenantCounters();
    const waiting = line(counters);
    for (const tenant of ['greedy', 'modest']) counters.join(tenant);
    counters.charge('greedy', 1000);
    const realtime = placed('greedy', 50);
    const batch = placed('modest', 100 + 0, 1);
    waiting.add(realtime);
    waiting.add(batch);
    const turn = (nowMs: number) => {
      const first = waiting.first(nowMs, all)!;
      waiting.taken(first, nowMs, all);
      return first === batch ? 'b' : 'R';
    };
    expect([99, 99, 99, 99, 99].map(turn).join('')).toBe('RRRRR');
    expect(Array.from({ length: 8 }, () => turn(100)).join('')).toBe('RRRbRRRb');
  });

  it('gives those that come as aged their own share, and with a share of 1 their place among equals', () => {
    const counters = new TenantCounters();
    const turns = (agingShare: number) => {
      const waiting = line(counters);
      const old = placed('a', 100, 1, agingShare);
      for (const item of [placed('a', 50), old]) waiting.add(item);
      return Array.from({ length: 6 }, () => {
        const first = waiting.first(60, all)!;
        waiting.taken(first, 60, all);
        return first === old ? 'b' : 'R';
      }).join('');
    };
    expect([turns(0.5), turns(0.3)]).toEqual(['RbRbRb', 'RRRbRR']);
  });

  it('has aged ones before those of a lower class that have not aged', () => {
    const waiting = line(new TenantCounters());
    const [young, old] = [placed('a', 110, 1), placed('a', 160, 1, 0.25)];
    for (const item of [young, old]) waiting.add(item);
    expect(waiting.first(60, all)).toBe(old);
  });
});
