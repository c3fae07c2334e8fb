import { describe, expect, it } from '@jest/globals';
import { RestGc } from './rest-gc.js';

const MIB = 2 ** 20;

/** Looks at a heap of so many MiB after so many milliseconds of CPU time; a collection leaves 60 MiB. */
function releasesAt(looks: readonly (readonly [cpuMs: number, mib: number])[]): number[] {
  let [cpuMs, bytes] = [0, 0];
  const released: number[] = [];
  const gc = new RestGc({ cpuMs: () => cpuMs, bytes: () => bytes, release: () => (bytes = 60 * MIB) });
  for (const [look, [usedMs, mib]] of looks.entries()) {
    cpuMs += usedMs;
    bytes = mib * MIB;
    gc.look();
    if (bytes !== mib * MIB) released.push(look);
  }
  return released;
}

describe('RestGc', () => {
  it.each<[string, (readonly [number, number])[], number[]]>([
    [
      'once the start is over',
      [
        [3000, 190],
        [400, 200],
        [10, 200],
        [10, 61],
        [10, 62],
      ],
      [2],
    ],
    [
      'never while the process works',
      [
        [3000, 190],
        [60, 200],
        [500, 300],
      ],
      [],
    ],
    [
      'again after work that made the heap grow',
      [
        [3000, 90],
        [5, 90],
        [900, 150],
        [5, 150],
        [5, 65],
      ],
      [1, 3],
    ],
    [
      'not for little',
      [
        [3000, 90],
        [5, 90],
        [900, 80],
        [5, 80],
      ],
      [1],
    ],
  ])('gives memory back %s', (_when, looks, released) => {
    expect(releasesAt(looks)).toEqual(released);
  });

  it('makes V8 give back what work left behind', () => {
    const heapMib = (): number => process.memoryUsage().heapTotal / MIB;
    const garbage = Array.from({ length: 1_000_000 }, (_, n) => ({ n, also: [n] }));
    const beforeMib = heapMib();
    garbage.length = 0;
    const gc = new RestGc();
    // The first look learns what the process has used so far.
    for (let look = 0; look < 2; look += 1) gc.look();
    expect(heapMib()).toBeLessThan(beforeMib - 32);
  });
});
