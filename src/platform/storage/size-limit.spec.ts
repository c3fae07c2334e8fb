import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { boundedBytes } from './size-limit.js';

const LIMIT = 1000;
const pieces = (...sizes: readonly number[]) =>
  Readable.from(sizes.map(size => Buffer.alloc(size)));

describe('boundedBytes', () => {
  it('passes exactly the limit, and is file_too_large at one byte more', async () => {
    const passed = await Array.fromAsync(boundedBytes(pieces(LIMIT - 1, 1), LIMIT));
    expect(passed.map(({ length }) => length)).toEqual([LIMIT - 1, 1]);
    await expect(Array.fromAsync(boundedBytes(pieces(LIMIT, 1), LIMIT))).rejects.toMatchObject({
      code: 'file_too_large',
      param: 'file',
    });
  });

  it('does not read what follows the byte over the limit', async () => {
    let read = 0;
    const endless = (async function* () {
      for (;;) {
        read += 1;
        yield await Promise.resolve(Buffer.alloc(LIMIT));
      }
    })();
    await expect(Array.fromAsync(boundedBytes(endless, LIMIT))).rejects.toThrow('larger than 1000');
    expect(read).toBe(2);
  });
});
