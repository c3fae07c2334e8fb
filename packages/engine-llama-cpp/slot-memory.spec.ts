import { describe, expect, it } from '@jest/globals';
import { SlotMemory } from './slot-memory.js';

const numbers = (count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => first + index);
const request = (tokens: readonly number[], salt = 's') => ({
  salt,
  tokens,
  capacity: tokens.length,
});

function memory(
  changes: Partial<ConstructorParameters<typeof SlotMemory>[0]> = {},
  costs = { computeMs: 1, copyMs: 10 },
): SlotMemory {
  const shape = { slots: 2, slotTokens: 32, blockTokens: 4, ...changes };
  const slots = new SlotMemory({ tokens: shape.slots * shape.slotTokens, ...shape });
  slots.reset({ costs, cutsBack: true });
  return slots;
}

/**
 * A sequence joins, and all its tokens are computed. @returns the operations
 * that this takes
 */
function joined(slots: SlotMemory, key: object, tokens: readonly number[], salt = 's') {
  const found = slots.allocate(key, request(tokens, salt))!;
  slots.write(slots.blocksOf(key)[0]!, found, tokens.length - found);
  slots.computed(key, tokens.length);
  return slots.takeOperations();
}

describe('SlotMemory', () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

  it('empties a slot before its first use: its contents are unknown', () => {
    const slots = memory();
    expect(slots.allocate(a, request([1]))).toBe(0);
    expect(slots.takeOperations()).toEqual([{ type: 'cut', slot: 0, keep: 0 }]);
    slots.audit();
  });

  it('needs no operation while a sequence continues in its slot', () => {
    const slots = memory();
    joined(slots, a, numbers(5));
    slots.write(0, 5, 1);
    expect(slots.takeOperations()).toEqual([]);
  });

  it('cuts back a free slot that begins alike, to whole blocks, and leaves one token to compute', () => {
    const slots = memory();
    joined(slots, a, numbers(20));
    slots.release(a);
    expect(slots.allocate(b, request([...numbers(14), 99, 99]))).toBe(12);
    expect(slots.takeOperations()).toEqual([{ type: 'cut', slot: 0, keep: 12 }]);
    slots.release(b);
    expect(slots.allocate(c, request(numbers(12)))).toBe(8);
  });

  it('copies from a slot in use when that costs less than computing, and not otherwise', () => {
    const slots = memory();
    joined(slots, a, numbers(20));
    expect(slots.allocate(b, request(numbers(13)))).toBe(12);
    expect(slots.takeOperations()).toEqual([{ type: 'copy', slot: 1, keep: 12, from: 0 }]);
    const expensive = memory({}, { computeMs: 1, copyMs: 13 });
    joined(expensive, a, numbers(20));
    expect(expensive.allocate(b, request(numbers(13)))).toBe(0);
  });

  it('takes the slot that was unused for the longest when none begins alike', () => {
    const slots = memory();
    joined(slots, a, numbers(5));
    joined(slots, b, numbers(5, 100));
    slots.write(0, 5, 1);
    slots.release(a);
    slots.release(b);
    slots.allocate(c, request(numbers(3, 500)));
    expect([slots.blocksOf(c), slots.kept]).toEqual([[1], 5]);
  });

  it('closes the gap between two slots in use before it takes one that was unused for longer', () => {
    const slots = memory({ slots: 4 });
    [a, b, c].forEach((key, at) => joined(slots, key, numbers(5, at * 100)));
    slots.release(b);
    const d = {};
    joined(slots, d, numbers(3, 500));
    expect(slots.blocksOf(d)).toEqual([1]);
    slots.release(d);
    slots.release(a);
    // Both are beside a slot in use; only the first has contents to lose.
    slots.allocate(b, request(numbers(3, 900)));
    expect(slots.blocksOf(b)).toEqual([3]);
  });

  it('cuts off what a failed step wrote, and sets the sampler up again', () => {
    const slots = memory();
    joined(slots, a, numbers(5));
    expect(slots.begins(0)?.tokens).toEqual(numbers(5));
    expect(slots.begins(0)).toBeUndefined();
    slots.write(0, 5, 2);
    slots.failed([], [0]);
    expect(slots.intact(a)).toBe(5);
    expect(slots.begins(0)?.tokens).toEqual(numbers(5));
    slots.write(0, 5, 2);
    expect(slots.takeOperations()).toEqual([{ type: 'cut', slot: 0, keep: 5 }]);
  });

  it('does not count on a copy whose step failed', () => {
    const slots = memory();
    joined(slots, a, numbers(20));
    slots.allocate(b, request(numbers(13)));
    slots.write(1, 12, 1);
    slots.failed(slots.takeOperations(), [0, 1]);
    expect([slots.intact(a), slots.intact(b)]).toEqual([20, 0]);
    slots.write(1, 0, 13);
    expect(slots.takeOperations()).toEqual([{ type: 'cut', slot: 1, keep: 0 }]);
  });

  it('shares nothing where a slot cannot be cut back', () => {
    const slots = memory();
    slots.reset({ costs: { computeMs: 1, copyMs: 0 }, cutsBack: false });
    joined(slots, a, numbers(20));
    slots.release(a);
    expect(slots.allocate(b, request(numbers(20)))).toBe(0);
    slots.write(slots.blocksOf(b)[0]!, 0, 20);
    slots.computed(b, 20);
    slots.failed([], slots.blocksOf(b));
    expect(slots.intact(b)).toBe(0);
  });

  it('counts a slot in blocks, and has none for one sequence more than it has slots', () => {
    const slots = memory();
    expect([slots.blocks, slots.available, slots.capacity]).toEqual([16, 16, 32]);
    joined(slots, a, numbers(5));
    expect([slots.available, slots.heldAlone(a)]).toEqual([14, 2]);
    expect([slots.grow(a, 32), slots.available, slots.grow(a, 33)]).toEqual([true, 8, false]);
    slots.allocate(b, request([1]));
    expect(slots.allocate(c, request([1]))).toBeUndefined();
    slots.audit();
  });

  it('lets sequences share fewer tokens than all slots could hold', () => {
    const slots = memory({ slots: 3, tokens: 40 });
    joined(slots, a, numbers(12));
    joined(slots, b, numbers(12, 100));
    expect([slots.blocks, slots.available, slots.allocate(c, request(numbers(20, 200)))]).toEqual([
      10,
      4,
      undefined,
    ]);
    expect([slots.grow(a, 28), slots.available, slots.grow(b, 13)]).toEqual([true, 0, false]);
    slots.release(a);
    expect([slots.grow(b, 13), slots.available]).toEqual([true, 6]);
    slots.audit();
  });

  it('empties the slot that was unused for the longest when room is needed, and only then', () => {
    const slots = memory({ slots: 3, tokens: 40 });
    joined(slots, a, numbers(12));
    joined(slots, b, numbers(12, 100));
    slots.release(a);
    slots.release(b);
    expect([slots.kept, slots.available]).toEqual([24, 10]);
    slots.allocate(c, request(numbers(20, 200)));
    expect(slots.takeOperations()).toEqual([
      { type: 'cut', slot: 2, keep: 0 },
      { type: 'cut', slot: 0, keep: 0 },
    ]);
    expect(slots.kept).toBe(12);
    slots.audit();
  });

  it('empties it again when the step that was to do so failed', () => {
    const slots = memory({ slots: 3, tokens: 40 });
    joined(slots, a, numbers(24));
    slots.release(a);
    slots.allocate(c, request(numbers(20, 200)));
    slots.write(slots.blocksOf(c)[0]!, 0, 20);
    slots.failed(slots.takeOperations(), slots.blocksOf(c));
    expect(slots.takeOperations()).toContainEqual({ type: 'cut', slot: 0, keep: 0 });
  });
});
