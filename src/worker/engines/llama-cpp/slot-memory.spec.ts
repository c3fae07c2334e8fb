import { describe, expect, it } from '@jest/globals';
import { AWAITED } from './llama-protocol.js';
import { type Continued, SlotMemory, type SlotMemoryOptions } from './slot-memory.js';

const numbers = (count: number, first = 1): number[] => Array.from({ length: count }, (_, index) => first + index);
const table = (changes: Partial<SlotMemoryOptions> = {}): SlotMemory<string> =>
  new SlotMemory({ slots: 2, costs: { computeMs: 1, copyMs: 10 }, cutsBack: true, ...changes });
const wanted = (tokens: readonly number[], salt = 's', position = tokens.length): Continued => ({
  salt,
  tokens,
  position,
});

/** A sequence comes, computes its tokens and stays. */
function seated(slots: SlotMemory<string>, name: string, tokens: readonly number[], salt = 's'): void {
  const { have } = slots.place(name, wanted(tokens, salt, 0));
  slots.wrote(name, have, tokens);
}

describe('SlotTable', () => {
  it('empties a slot before its first use: nobody knows what is in it', () => {
    expect(table().place('a', wanted([]))).toEqual({
      ...{ slot: 0, have: 0, isNew: true, operations: [{ type: 'cut', slot: 0, keep: 0 }] },
    });
  });

  it('keeps a sequence where it is while it goes on, and touches nothing', () => {
    const slots = table();
    seated(slots, 'a', numbers(5));
    expect(slots.place('a', wanted(numbers(5)))).toEqual({ slot: 0, have: 5, isNew: false, operations: [] });
  });

  it('cuts off a free slot that begins alike', () => {
    const slots = table();
    seated(slots, 'a', numbers(20));
    slots.release('a');
    expect(slots.place('b', wanted([...numbers(12), 99, 99]))).toEqual({
      ...{ slot: 0, have: 12, isNew: true, operations: [{ type: 'cut', slot: 0, keep: 12 }] },
    });
  });

  it('copies from a slot in use when that costs less than computing, and not otherwise', () => {
    const slots = table();
    seated(slots, 'a', numbers(20));
    const copied = slots.place('b', wanted(numbers(12)));
    expect(copied.operations).toContainEqual({ type: 'copy', slot: 1, keep: 12, from: 0 });
    expect(copied.have).toBe(12);
    slots.release('b');
    const dear = table({ costs: { computeMs: 1, copyMs: 13 } });
    seated(dear, 'a', numbers(20));
    expect(dear.place('b', wanted(numbers(12)))).toMatchObject({ slot: 1, have: 0 });
  });

  it('never gives one salt what another one computed', () => {
    const slots = table();
    seated(slots, 'a', numbers(20), 'one');
    slots.release('a');
    expect(slots.place('b', wanted(numbers(20), 'two')).have).toBe(0);
  });

  it('takes the slot that was not used for the longest, when none begins alike', () => {
    const slots = table();
    seated(slots, 'a', numbers(5));
    seated(slots, 'b', numbers(5, 100));
    slots.place('a', wanted(numbers(5)));
    slots.release('a');
    slots.release('b');
    expect(slots.place('c', wanted(numbers(3, 500))).slot).toBe(1);
    expect(slots.kept).toBe(5);
  });

  it('closes the gap between two that are held before it takes one that was not used for longer', () => {
    const slots = table({ slots: 4 });
    ['a', 'b', 'c'].forEach((name, at) => seated(slots, name, numbers(5, at * 100)));
    slots.release('b');
    seated(slots, 'd', numbers(3, 500));
    expect(slots.place('d', wanted(numbers(3, 500))).slot).toBe(1);
    slots.release('d');
    slots.release('a');
    // Both are beside what is held; only the first has something to lose.
    expect(slots.place('e', wanted(numbers(3, 900))).slot).toBe(3);
  });

  it('cuts off what a failed step wrote, and tells that the sequence begins anew', () => {
    const slots = table();
    seated(slots, 'a', numbers(5));
    slots.spoiled(0, 3);
    expect(slots.place('a', wanted(numbers(5)))).toEqual({
      ...{ slot: 0, have: 3, isNew: true, operations: [{ type: 'cut', slot: 0, keep: 3 }] },
    });
  });

  it('finds a token that was awaited only once it is known', () => {
    const found = (drawn: number): number => {
      const slots = table();
      seated(slots, 'a', [...numbers(5), AWAITED]);
      slots.drew(0, 5, drawn);
      slots.release('a');
      return slots.place('b', wanted([...numbers(5), 77, 78])).have;
    };
    expect([found(77), found(76)]).toEqual([6, 5]);
    const slots = table();
    seated(slots, 'a', [...numbers(5), AWAITED]);
    slots.release('a');
    expect(slots.place('b', wanted([...numbers(5), 77])).have).toBe(5);
  });

  it('goes on with whole slots only, where memory cannot be cut back', () => {
    const slots = table({ cutsBack: false });
    seated(slots, 'a', numbers(20));
    slots.release('a');
    expect(slots.place('b', wanted(numbers(12))).have).toBe(0);
    slots.release('b');
    seated(slots, 'c', numbers(8, 300));
    slots.release('c');
    expect(slots.place('d', wanted([...numbers(8, 300), 7])).have).toBe(8);
  });

  it('refuses more sequences than slots', () => {
    const slots = table();
    for (const name of ['a', 'b']) slots.place(name, wanted([]));
    expect(() => slots.place('c', wanted([]))).toThrow('More sequences than slots');
  });
});
