import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type HeapItem, KeyedHeap } from '../../src/core/order/keyed-heap.js';

interface Entry extends HeapItem {
  key: number;
  inside: boolean;
}

describe('KeyedHeap against a plain minimum', () => {
  it('knows the smallest key and its size after any puts, re-keys and removals of 12 items', () => {
    const command = fc.record({
      item: fc.nat(11),
      key: fc.option(fc.integer({ min: -5, max: 5 })),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 120, size: 'max' }), commands => {
        const heap = new KeyedHeap<Entry>();
        const items = Array.from({ length: 12 }, (): Entry => ({
          heapIndex: -1,
          key: 0,
          inside: false,
        }));
        for (const { item, key } of commands) {
          const entry = items[item]!;
          entry.inside = key !== null;
          if (key === null) heap.remove(entry);
          else heap.put(entry, (entry.key = key));
          const inside = items.filter(other => other.inside);
          expect(heap.items.length).toBe(inside.length);
          expect(heap.keys[0]).toBe(
            inside.length === 0 ? undefined : Math.min(...inside.map(other => other.key)),
          );
          expect(heap.items[0]?.key).toBe(heap.keys[0]);
        }
      }),
    );
  });
});
