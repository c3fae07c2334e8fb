import { describe, expect, it } from '@jest/globals';
import { StartGc } from './start-gc.js';

const MIB = 2 ** 20;

/** The looks of a process that used so many milliseconds of CPU time before each, up to the last one. */
function lookedAt(usedMs: readonly number[]): { readonly looks: number; readonly released: boolean } {
  let cpuMs = 0;
  let released = false;
  const gc = new StartGc({ cpuMs: () => cpuMs, release: () => (released = true) });
  for (const [before, ms] of usedMs.entries()) {
    cpuMs += ms;
    if (!gc.look()) return { looks: before + 1, released };
  }
  return { looks: Infinity, released };
}

describe('StartGc', () => {
  it.each<[string, number[], ReturnType<typeof lookedAt>]>([
    ['once the start is over', [3000, 400, 10, 10], { looks: 3, released: true }],
    ['not while the process works', [3000, 60, 500], { looks: Infinity, released: false }],
    ['not after a minute of work', [3000, 60, 500, 60, 60, 60, 10], { looks: 6, released: false }],
  ])('gives memory back %s', (_when, usedMs, expected) => {
    expect(lookedAt(usedMs)).toEqual(expected);
  });

  it('makes V8 give back what is garbage', () => {
    const heapMib = (): number => process.memoryUsage().heapTotal / MIB;
    const garbage = Array.from({ length: 1_000_000 }, (_, n) => ({ n, also: [n] }));
    const beforeMib = heapMib();
    garbage.length = 0;
    const gc = new StartGc();
    // The first look learns what the process has used so far.
    while (gc.look());
    expect(heapMib()).toBeLessThan(beforeMib - 32);
  });
});
