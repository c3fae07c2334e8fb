import { describe, expect, it } from '@jest/globals';
import { type HeapItem, KeyedHeap } from './keyed-heap.js';

interface Named extends HeapItem {
  readonly name: string;
}

const named = (name: string): Named => ({ name, heapIndex: -1 });

/** Takes everything out, smallest first. */
function drain(heap: KeyedHeap<Named>): string[] {
  const names: string[] = [];
  for (let top = heap.items[0]; top !== undefined; top = heap.items[0]) {
    names.push(top.name);
    heap.remove(top);
  }
  return names;
}

describe('KeyedHeap', () => {
  it('is empty at first', () => {
    const heap = new KeyedHeap<Named>();
    expect([heap.items.length, heap.items[0], heap.keys[0]]).toEqual([0, undefined, undefined]);
  });

  it('gives members by key, whatever the order they came in', () => {
    const heap = new KeyedHeap<Named>();
    for (const key of [5, 1, 4, 2, 3, 0]) heap.put(named(String(key)), key);
    expect(heap.keys[0]).toBe(0);
    expect(drain(heap)).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('moves a member up or down when its key changes', () => {
    const heap = new KeyedHeap<Named>();
    const items = ['a', 'b', 'c', 'd'].map(named);
    items.forEach((item, index) => heap.put(item, index));
    heap.put(items[0]!, 10);
    heap.put(items[3]!, -1);
    expect(heap.items.length).toBe(4);
    expect(drain(heap)).toEqual(['d', 'b', 'c', 'a']);
  });

  it('removes from the middle and leaves the rest in order', () => {
    const heap = new KeyedHeap<Named>();
    const items = Array.from({ length: 20 }, (_, index) => named(String(index)));
    items.forEach((item, index) => heap.put(item, (index * 7) % 20));
    heap.remove(items[3]!);
    heap.remove(items[11]!);
    const left = items.filter((_, index) => index !== 3 && index !== 11);
    const expected = left.sort((a, b) => ((Number(a.name) * 7) % 20) - ((Number(b.name) * 7) % 20));
    expect(drain(heap)).toEqual(expected.map(({ name }) => name));
  });

  it('ignores the removal of one that is outside, and takes it back in', () => {
    const heap = new KeyedHeap<Named>();
    const item = named('a');
    heap.remove(item);
    heap.put(item, 1);
    heap.remove(item);
    heap.remove(item);
    expect(heap.items.length).toBe(0);
    heap.put(item, 2);
    expect(drain(heap)).toEqual(['a']);
  });
});
