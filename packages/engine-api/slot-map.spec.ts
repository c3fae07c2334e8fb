import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SlotMap } from './slot-map.js';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ does: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ does: fc.constant('delete' as const), key, value: fc.constant(0) }),
);

describe('ChurnMap', () => {
  it('does what a Map does, whatever comes and goes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
        const model = new Map<string, number>();
        const map = new SlotMap<string, number>();
        for (const { does, key, value } of steps) {
          if (does === 'set') {
            model.set(key, value);
            map.set(key, value);
          } else expect(map.delete(key)).toBe(model.delete(key));
          expect([...map]).toEqual([...model]);
          expect([...map.values()]).toEqual([...model.values()]);
          expect([...map.keys()]).toEqual([...model.keys()]);
          expect([map.size, map.get(key), map.has(key)]).toEqual([
            model.size,
            model.get(key),
            model.has(key),
          ]);
          expect(map.firstKey).toBe([...model.keys()][0]);
        }
      }),
    );
  });

  it('serves on after a burst that was larger than what it keeps', () => {
    const map = new SlotMap<number, string>();
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 3000; n++) map.set(n, `${round}.${n}`);
      expect(map.get(2999)).toBe(`${round}.2999`);
      for (let n = 0; n < 3000; n++) map.delete(n);
      expect([...map]).toEqual([]);
    }
  });

  it('may lose the entry it shows', () => {
    const map = new SlotMap<string, number>().set('a', 1).set('b', 2).set('c', 3);
    const seen: number[] = [];
    for (const [key, value] of map) {
      seen.push(value);
      map.delete(key);
    }
    expect([seen, map.size]).toEqual([[1, 2, 3], 0]);
  });
});
