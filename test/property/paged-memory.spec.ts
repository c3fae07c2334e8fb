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
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
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
