import { describe, expect, it } from '@jest/globals';
import { isFirstOf } from './queue.metrics.js';

describe('CountedCalls', () => {
  it('is true for one member of a call of eight', () => {
    const calls = new Map<string, number>();
    const firsts = Array.from({ length: 8 }, () => isFirstOf(calls, 'a', 8));
    expect(firsts).toEqual([true, ...Array<boolean>(7).fill(false)]);
  });

  it('tells interleaved calls apart', () => {
    const calls = new Map<string, number>();
    const answers = ['a', 'b', 'a', 'b'].map(id => isFirstOf(calls, id, 2));
    expect(answers).toEqual([true, true, false, false]);
  });

  it('forgets a call when its last member answered', () => {
    const calls = new Map<string, number>();
    isFirstOf(calls, 'alone', 1);
    isFirstOf(calls, 'pair', 2);
    expect(calls.size).toBe(1);
    isFirstOf(calls, 'pair', 2);
    expect(calls.size).toBe(0);
  });

  it('stays bounded when members never answer', () => {
    const calls = new Map<string, number>();
    for (let n = 0; n < 10_000; n++) isFirstOf(calls, `call-${n}`, 2);
    expect(calls.size).toBe(4096);
  });
});
