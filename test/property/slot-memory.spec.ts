import { describe, expect, it } from '@jest/globals';
import { type SlotOperation } from '@switchyard/engine-llama-cpp/protocol.js';
import { SlotMemory } from '@switchyard/engine-llama-cpp/slot-memory.js';
import fc from 'fast-check';

const SLOTS = 3;
const SLOT_TOKENS = 64;
const CAPACITY = 16;
/** Few tokens and few lengths, so that beginnings are often equal. */
const prompts = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 9 });
const act = fc.oneof(
  fc.record({
    do: fc.constant('join' as const),
    prompt: prompts,
    salt: fc.constantFrom('x', 'y'),
  }),
  fc.record({
    do: fc.constant('step' as const),
    who: fc.nat(7),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ do: fc.constant('fail' as const), who: fc.nat(7), isRun: fc.boolean() }),
  fc.record({ do: fc.constant('leave' as const), who: fc.nat(2) }),
  fc.record({ do: fc.constant('restart' as const) }),
);

const histories = fc.array(act, { maxLength: 80, size: 'max' });
/** All that the slots can hold, or what two sequences nearly do. */
const budgets = fc.constantFrom(SLOTS * SLOT_TOKENS, SLOT_TOKENS, 2 * CAPACITY + 8);

interface Sequence {
  readonly salt: string;
  readonly tokens: number[];
  computed: number;
}

/** The native context: what the cells of each slot hold, by operations and runs. */
class NativeSlots {
  #cells: string[][] = Array.from({ length: SLOTS }, () => ['garbage']);

  restart(): void {
    this.#cells = Array.from({ length: SLOTS }, () => ['garbage']);
  }

  operate(operations: readonly SlotOperation[]): void {
    for (const operation of operations) {
      const { slot, keep } = operation;
      const source = operation.type === 'copy' ? operation.from : slot;
      this.#cells[slot] = this.#cells[source]!.slice(0, keep);
    }
  }

  write(slot: number, position: number, cells: readonly string[]): void {
    if (this.#cells[slot]!.length !== position)
      throw new Error(`Cells behind position ${position} are in use.`);
    this.#cells[slot]!.push(...cells);
  }

  /** Cells in use of slots whose content is known. */
  get used(): number {
    return this.#cells.reduce((sum, cells) => sum + (cells[0] === 'garbage' ? 0 : cells.length), 0);
  }

  holds(slot: number, cells: readonly string[]): boolean {
    return cells.every((cell, index) => this.#cells[slot]![index] === cell);
  }
}

const cellsOf = ({ salt, tokens }: Sequence, from: number, to: number) =>
  tokens.slice(from, to).map(token => `${salt}${token}`);

describe('SlotMemory over any history', () => {
  it('counts on nothing that is not in native memory, and shares nothing under another salt', () => {
    fc.assert(
      fc.property(
        histories,
        budgets,
        fc.constantFrom(0, 3),
        fc.boolean(),
        (acts, tokens, copyMs, cutsBack) => {
          const memory = new SlotMemory({
            slots: SLOTS,
            slotTokens: SLOT_TOKENS,
            tokens,
            blockTokens: 2,
          });
          const properties = { costs: { computeMs: 1, copyMs }, cutsBack };
          memory.reset(properties);
          const native = new NativeSlots();
          const here: Sequence[] = [];
          /** One run with one item, which fails, or is skipped, if asked to. */
          const run = (sequence: Sequence, count: number, ends: 'done' | 'failed' | 'skipped') => {
            sequence.computed = memory.intact(sequence);
            const slot = memory.blocksOf(sequence)[0]!;
            const to = Math.min(sequence.tokens.length, sequence.computed + count);
            if (!memory.grow(sequence, to)) return;
            memory.write(slot, sequence.computed, to - sequence.computed);
            const operations = memory.takeOperations();
            if (ends !== 'skipped') {
              native.operate(operations);
              native.write(slot, sequence.computed, cellsOf(sequence, sequence.computed, to));
            }
            expect(native.used).toBeLessThanOrEqual(tokens);
            if (ends !== 'done') return memory.failed(operations, [slot]);
            sequence.computed = to;
            memory.computed(sequence, to);
            expect(native.holds(slot, cellsOf(sequence, 0, to))).toBe(true);
            if (to === sequence.tokens.length) sequence.tokens.push(1);
          };
          for (const one of acts) {
            if (one.do === 'join') {
              const sequence = { salt: one.salt, tokens: [...one.prompt], computed: 0 };
              const isFull = here.length === SLOTS || memory.available < memory.blocksFor(CAPACITY);
              const found = memory.allocate(sequence, {
                ...sequence,
                capacity: CAPACITY,
              });
              expect(found === undefined).toBe(isFull);
              if (found === undefined) continue;
              expect(found).toBeLessThan(sequence.tokens.length);
              here.push(sequence);
            } else if (one.do === 'restart') {
              native.restart();
              memory.reset(properties);
            } else if (here.length > 0) {
              const sequence = here[one.who % here.length]!;
              if (one.do === 'step') run(sequence, one.count, 'done');
              else if (one.do === 'fail') run(sequence, 2, one.isRun ? 'failed' : 'skipped');
              else {
                memory.release(sequence);
                here.splice(here.indexOf(sequence), 1);
              }
            }
            memory.audit();
          }
          for (const sequence of here) memory.release(sequence);
          expect(memory.available).toBe(memory.blocks);
        },
      ),
      { numRuns: 500 },
    );
  });
});
