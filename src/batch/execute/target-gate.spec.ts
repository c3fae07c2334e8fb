import { describe, expect, it } from '@jest/globals';
import { TargetGate } from './target-gate.js';

const gateOf = (slots: number): TargetGate =>
  new TargetGate(slots, { firstMs: 10, longestMs: 100 });

const times = (count: number, act: () => void) => {
  for (let done = 0; done < count; done++) act();
};

describe('TargetGate', () => {
  it('starts at the configured limit and never exceeds it', () => {
    const limit = gateOf(10);
    expect(limit.slots).toBe(10);
    times(100, () => limit.succeeded());
    expect(limit.slots).toBe(10);
  });

  it('halves once for a burst of busy answers to what was in flight', () => {
    const limit = gateOf(10);
    times(10, () => limit.overloaded(0));
    expect(limit.slots).toBe(5);
    limit.overloaded(0);
    expect([limit.slots, limit.isOpen(0)]).toEqual([2, true]);
  });

  it('never goes below 1', () => {
    const limit = gateOf(4);
    times(50, () => limit.overloaded(0));
    expect(limit.slots).toBe(1);
  });

  it('grows by one per round without trouble', () => {
    const limit = gateOf(8);
    times(8, () => limit.overloaded(0));
    expect(limit.slots).toBe(4);
    times(4, () => limit.succeeded());
    expect(limit.slots).toBe(5);
    times(4, () => limit.succeeded());
    expect(limit.slots).toBe(5);
    limit.succeeded();
    expect(limit.slots).toBe(6);
  });

  it('may be one line at a time', () => {
    expect(gateOf(1).slots).toBe(1);
  });

  it.each([0, -1, 1.5, NaN])('refuses a limit of %d', slots => {
    expect(() => gateOf(slots)).toThrow(`>= 1, not ${slots}`);
  });

  it('admits as many lines as it has slots, and again when one is released', () => {
    const limit = gateOf(2);
    const release = limit.acquire();
    expect([limit.inFlight, limit.isOpen(0)]).toEqual([1, true]);
    limit.acquire();
    expect([limit.inFlight, limit.isOpen(0)]).toEqual([2, false]);
    release();
    expect([limit.inFlight, limit.isOpen(0)]).toEqual([1, true]);
  });

  it('is closed until the longest time that an answer asked for', () => {
    const limit = gateOf(4);
    expect(limit.closedUntilMs).toBe(0);
    limit.overloaded(10, 50);
    limit.overloaded(20);
    expect([59, 60].map(nowMs => limit.isOpen(nowMs))).toEqual([false, true]);
    limit.failed(0, 100);
    expect([limit.closedUntilMs, limit.isOpen(99)]).toEqual([100, false]);
  });

  it('halves again once the lines that were in flight at the last cut have answers', () => {
    const limit = gateOf(4);
    limit.overloaded(0);
    times(3, () => limit.succeeded());
    expect(limit.slots).toBe(3);
    limit.overloaded(0);
    expect(limit.slots).toBe(1);
  });

  it('is not cut by an answer that is late, after good ones', () => {
    const limit = gateOf(4);
    limit.overloaded(0);
    times(2, () => limit.succeeded());
    limit.overloaded(0);
    expect(limit.slots).toBe(3);
  });

  it('is cut anew by each answer while it has one slot: none of another line is due', () => {
    const limit = gateOf(2);
    times(3, () => limit.overloaded(0));
    limit.succeeded();
    expect(limit.slots).toBe(2);
    limit.overloaded(0);
    expect(limit.slots).toBe(1);
  });

  it('counts good answers of one round only: trouble begins it anew', () => {
    const limit = gateOf(8);
    times(8, () => limit.overloaded(0));
    times(3, () => limit.succeeded());
    limit.overloaded(0);
    expect(limit.slots).toBe(2);
    limit.succeeded();
    expect(limit.slots).toBe(2);
    limit.succeeded();
    expect(limit.slots).toBe(3);
  });

  it('sends one probe at a time while its target is away, and all again once it answers', () => {
    const limit = gateOf(4);
    const before = limit.acquire();
    expect([limit.failed(0), limit.failed(0), limit.isAway]).toEqual([true, false, true]);
    expect([9, 10].map(nowMs => limit.isOpen(nowMs))).toEqual([false, true]);
    const probe = limit.acquire();
    before();
    expect(limit.isOpen(10)).toBe(false);
    probe();
    expect(limit.isOpen(10)).toBe(true);
    expect([limit.answered(), limit.answered(), limit.answers]).toEqual([true, false, 2]);
    expect([limit.isAway, limit.closedUntilMs, limit.isOpen(0)]).toEqual([false, 0, true]);
  });
});
