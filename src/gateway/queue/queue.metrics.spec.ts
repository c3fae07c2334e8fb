import { describe, expect, it } from '@jest/globals';
import { CountedCalls } from './queue.metrics.js';

describe('CountedCalls', () => {
  it('is true for one member of a call of eight', () => {
    const calls = new CountedCalls();
    const firsts = Array.from({ length: 8 }, () => calls.firstOf('a', 8));
    expect(firsts).toEqual([true, ...Array<boolean>(7).fill(false)]);
  });

  it('tells interleaved calls apart', () => {
    const calls = new CountedCalls();
    const answers = ['a', 'b', 'a', 'b'].map(id => calls.firstOf(id, 2));
    expect(answers).toEqual([true, true, false, false]);
  });

  it('forgets a call when its last member answered', () => {
    const calls = new CountedCalls();
    calls.firstOf('alone', 1);
    calls.firstOf('pair', 2);
    expect(calls.size).toBe(1);
    calls.firstOf('pair', 2);
    expect(calls.size).toBe(0);
  });

  it('stays bounded when members never answer', () => {
    const calls = new CountedCalls();
    for (let n = 0; n < 10_000; n++) calls.firstOf(`call-${n}`, 2);
    expect(calls.size).toBe(4096);
  });
});
