import { describe, expect, it } from '@jest/globals';
import { PagedMemory } from './paged-memory.js';

const OPTIONS = { blocks: 4, blockTokens: 2 };
const request = (tokens: number[], capacity = tokens.length, salt = 'tenant') => ({ salt, tokens, capacity });

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
    expect([blocks.grow('a', 2), blocks.grow('a', 8), blocks.grow('a', 9)]).toEqual([true, true, false]);
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
