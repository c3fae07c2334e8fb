import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PagedMemory } from '../support/paged-memory.js';

const BLOCK = 2;
/** Few tokens and few lengths, so that beginnings are often equal. */
const prompts = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 9 });
const step = fc.oneof(
  fc.record({
    do: fc.constant('allocate' as const),
    key: fc.nat(7),
    prompt: prompts,
    extra: fc.nat(4),
    salt: fc.constantFrom('x', 'y'),
  }),
  fc.record({ do: fc.constant('grow' as const), key: fc.nat(7), by: fc.nat(5) }),
  fc.record({ do: fc.constant('computed' as const), key: fc.nat(7) }),
  fc.record({ do: fc.constant('release' as const), key: fc.nat(7) }),
);

interface Held {
  readonly salt: string;
  readonly prompt: number[];
  tokens: number;
}

describe('PagedMemory over any history', () => {
  it('conserves blocks, takes nothing when it rejects, and never lends a block of other content or salt', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const ledger = new PagedMemory<number>({ blocks: 8, blockTokens: BLOCK });
        const held = new Map<number, Held>();
        /** What was last computed into each block: salt and all tokens up to its end. */
        const contents = new Map<number, string>();
        const blocksOf = new Map<number, readonly number[]>();
        for (const act of steps) {
          const before = ledger.available;
          const sequence = held.get(act.key);
          if (act.do === 'allocate' && !sequence) {
            const capacity = act.prompt.length + act.extra;
            const reused = ledger.allocate(act.key, {
              salt: act.salt,
              tokens: act.prompt,
              capacity,
            });
            if (reused === undefined) expect(ledger.available).toBe(before);
            else {
              expect(reused).toBeLessThan(act.prompt.length);
              for (let index = 0; index < reused / BLOCK; index++)
                expect(contents.get(ledger.blocksOf(act.key)[index]!)).toBe(
                  `${act.salt}:${act.prompt.slice(0, (index + 1) * BLOCK).join()}`,
                );
              held.set(act.key, {
                salt: act.salt,
                prompt: act.prompt,
                tokens: capacity,
              });
              blocksOf.set(act.key, ledger.blocksOf(act.key));
            }
          } else if (act.do === 'grow' && sequence) {
            if (ledger.grow(act.key, sequence.tokens + act.by)) sequence.tokens += act.by;
            else expect(ledger.available).toBe(before);
          } else if (act.do === 'computed' && sequence) {
            const full = Math.floor(sequence.prompt.length / BLOCK);
            for (let index = 0; index < full; index++)
              contents.set(
                blocksOf.get(act.key)![index]!,
                `${sequence.salt}:${sequence.prompt.slice(0, (index + 1) * BLOCK).join()}`,
              );
            ledger.computed(act.key, sequence.prompt.length);
          } else if (act.do === 'release') {
            ledger.release(act.key);
            held.delete(act.key);
          }
          ledger.audit();
        }
        for (const key of held.keys()) ledger.release(key);
        expect(ledger.available).toBe(8);
      }),
      { numRuns: 500 },
    );
  });
});

const OPTIONS = { blocks: 4, blockTokens: 2 };
const request = (tokens: number[], capacity = tokens.length, salt = 'tenant') => ({
  salt,
  tokens,
  capacity,
});

describe('PagedMemory', () => {
  const ledger = () => new PagedMemory<string>(OPTIONS);

  it('allocates all or nothing, for the prompt and what follows it', () => {
    const blocks = ledger();
    expect(blocks.allocate('a', request([1, 2, 3], 5))).toBe(0);
    expect(blocks.blocksOf('a')).toHaveLength(3);
    expect(blocks.allocate('b', request([7, 8, 9]))).toBeUndefined();
    expect(blocks.available).toBe(1);
    blocks.audit();
  });

  it('reports the most tokens that one sequence can have', () => {
    expect(ledger().capacity).toBe(8);
  });

  it('grows while there is room, and not by halves', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1, 2]));
    expect([blocks.grow('a', 2), blocks.grow('a', 8), blocks.grow('a', 9)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(blocks.available).toBe(0);
    blocks.audit();
  });

  it('shares a computed beginning, and leaves at least one token to compute', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1, 2, 3, 4]));
    blocks.computed('a', 4);
    expect(blocks.allocate('b', request([1, 2, 3, 4]))).toBe(2);
    expect(blocks.available).toBe(1);
    blocks.audit();
  });

  it('shares nothing that is not computed yet, and nothing across salts', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1, 2, 3]));
    expect(blocks.allocate('b', request([1, 2, 9]))).toBe(0);
    blocks.computed('a', 3);
    blocks.release('b');
    expect(blocks.allocate('c', request([1, 2, 9], 3, 'another tenant'))).toBe(0);
  });

  it('finds what was released, until its block is needed', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1, 2, 3, 4]));
    blocks.computed('a', 4);
    blocks.release('a');
    expect(blocks.available).toBe(4);
    blocks.allocate('b', request([9, 9, 9, 9, 9, 9]));
    expect(blocks.allocate('c', request([1, 2, 3]))).toBeUndefined();
    blocks.release('b');
    expect(blocks.allocate('d', request([1, 2, 3]))).toBe(2);
    blocks.audit();
  });

  it('forgets a reused block under its old content, and all that followed it', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1, 2, 3, 4]));
    blocks.computed('a', 4);
    blocks.release('a');
    blocks.allocate('b', request([9, 9, 9, 9, 9, 9, 9, 9]));
    blocks.release('b');
    expect(blocks.allocate('c', request([1, 2, 3, 4, 5]))).toBe(0);
  });

  it('releases once, and refuses to allocate twice', () => {
    const blocks = ledger();
    blocks.allocate('a', request([1]));
    expect(() => blocks.allocate('a', request([1]))).toThrow('holds blocks already');
    blocks.release('a');
    blocks.release('a');
    expect(blocks.available).toBe(4);
    expect(() => blocks.grow('a', 1)).toThrow('holds no blocks');
  });
});
