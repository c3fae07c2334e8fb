import { createHash } from 'node:crypto';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { chunked, filesUnder, hashed, ifPresent, syncFolder, writeAll } from './durable-files.js';

const folder = temporaryFolder();
const CHUNK_BYTES = 262_144;

it('all files below a folder are listed, and none of one that is absent', async () => {
  await mkdir(join(folder, 'a', 'b'), { recursive: true });
  await Promise.all(['1', 'a/2', 'a/b/3'].map(name => writeFile(join(folder, name), name)));
  const found = (await filesUnder(folder)).sort();
  expect(found).toEqual(['1', 'a/2', 'a/b/3'].map(name => join(folder, name)));
  expect(await filesUnder(join(folder, 'none'))).toEqual([]);
});

it('only what is absent is nothing; other errors pass', async () => {
  expect(await ifPresent(readFile(join(folder, 'none')))).toBeUndefined();
  await expect(ifPresent(readFile(folder))).rejects.toMatchObject({ code: 'EISDIR' });
  await syncFolder(folder);
  await syncFolder(join(folder, 'none'));
  await writeFile(join(folder, 'file'), '');
  await expect(syncFolder(join(folder, 'file', 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

it('entries of a folder are synced', async () => {
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const sync = jest.spyOn(prototype, 'sync');
  await syncFolder(folder);
  expect(sync).toHaveBeenCalledTimes(1);
  jest.restoreAllMocks();
});

it('all bytes are written, however few the system takes at once', async () => {
  const taken: number[] = [];
  const file = {
    write(bytes: Uint8Array, at: number) {
      taken.push(...bytes.subarray(at, at + 2));
      return Promise.resolve({ bytesWritten: Math.min(2, bytes.length - at) });
    },
  };
  await writeAll(file as never, Uint8Array.of(1, 2, 3, 4, 5));
  expect(taken).toEqual([1, 2, 3, 4, 5]);
});

it.each([
  [[], []],
  [[0], []],
  [[1, 2], [3]],
  [[CHUNK_BYTES - 1], [CHUNK_BYTES - 1]],
  [
    [CHUNK_BYTES - 1, 1, 5, 6],
    [CHUNK_BYTES, 11],
  ],
  [
    [CHUNK_BYTES + 7, CHUNK_BYTES],
    [CHUNK_BYTES + 7, CHUNK_BYTES],
  ],
])('pieces of %j bytes become chunks of %j', async (pieces, chunks) => {
  async function* source() {
    for (const size of pieces) yield await Promise.resolve(Buffer.alloc(size));
  }
  const sizes = (await Array.fromAsync(chunked(source()))).map(({ length }) => length);
  expect(sizes).toEqual(chunks);
});

it('bytes that pass are in the digest', async () => {
  const digest = createHash('sha256');
  async function* source() {
    yield await Promise.resolve(Buffer.from('one '));
    yield Buffer.from('two');
  }
  expect(Buffer.concat(await Array.fromAsync(hashed(source(), digest))).toString()).toBe('one two');
  expect(digest.digest('hex')).toBe(createHash('sha256').update('one two').digest('hex'));
});
