import { describe, expect, it } from '@jest/globals';
import { ConcurrencyLimit } from './line-dispatcher.js';

const times = (count: number, act: () => void): void => {
  for (let done = 0; done < count; done++) act();
};

describe('ConcurrencyLimit', () => {
  it('starts at the configured limit and never exceeds it', () => {
    const limit = new ConcurrencyLimit(10);
    times(100, () => limit.succeeded());
    expect(limit.current).toBe(10);
  });

  it('halves once for a burst of busy answers to what was in flight', () => {
    const limit = new ConcurrencyLimit(10);
    times(10, () => limit.overloaded());
    expect(limit.current).toBe(5);
    limit.overloaded();
    expect(limit.current).toBe(2);
  });

  it('never goes below 1', () => {
    const limit = new ConcurrencyLimit(4);
    times(50, () => limit.overloaded());
    expect(limit.current).toBe(1);
  });

  it('grows by one per round without trouble', () => {
    const limit = new ConcurrencyLimit(8);
    times(8, () => limit.overloaded());
    expect(limit.current).toBe(4);
    times(4, () => limit.succeeded());
    expect(limit.current).toBe(5);
    times(4, () => limit.succeeded());
    expect(limit.current).toBe(5);
    limit.succeeded();
    expect(limit.current).toBe(6);
  });

  it('refuses a limit below 1', () =>
    expect(() => new ConcurrencyLimit(0)).toThrow('>= 1, not 0'));
});
