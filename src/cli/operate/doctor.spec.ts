import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { checkFolder } from './doctor.js';

describe('doctor, at a folder', () => {
  it.each([
    ['ok', 4 * 1024 ** 3],
    ['warn', 1024 ** 3],
    ['fail', 100 * 1024 ** 2],
    ['fail', 0],
  ])('says %s with %d bytes free: a full disk ends it with 1', async (state, free) => {
    expect(await checkFolder('data folder', tmpdir(), () => Promise.resolve(free))).toMatchObject({
      state,
    });
  });
});
