import { describe, expect, it, jest } from '@jest/globals';
import { filePassed } from './buffer-gc.js';

const PIECE = 65_536;

describe('a file that passes through', () => {
  it('has its buffers collected once for every 8 MiB', () => {
    // Whatever other specs of this process passed on is collected first.
    filePassed(8 * 2 ** 20, jest.fn());
    const collect = jest.fn();
    const collections = Array.from({ length: 3 * 128 }, () => {
      filePassed(PIECE, collect);
      return collect.mock.calls.length;
    });
    expect([126, 127, 254, 255, 382, 383].map(piece => collections[piece])).toEqual([0, 1, 1, 2, 2, 3]);
  });
});
