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

  it.each([0, -1, 1.5, NaN])('refuses a limit of %d', slots => {
    expect(() => gateOf(slots)).toThrow(`>= 1, not ${slots}`);
  });
});
