import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { SpooledUpload } from './spool.js';

const BYTES = Buffer.alloc(150_000, 'abc');

describe('SpooledUpload.chunks', () => {
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder();
  });

  async function upload(kind: 'memory' | 'file'): Promise<SpooledUpload> {
    const path = join(folder, kind);
    await writeFile(path, BYTES);
    const content = kind === 'memory' ? BYTES : path;
    return new SpooledUpload(BYTES.length, BYTES.subarray(0, 10), content);
  }

  it.each(['memory', 'file'] as const)(
    'of %s are the upload, at most 64 KiB each, as often as asked for',
    async kind => {
      const spooled = await upload(kind);
      for (let time = 0; time < 2; time += 1) {
        const pieces: Buffer[] = [];
        for await (const piece of spooled.chunks()) pieces.push(Buffer.from(piece));
        expect(Buffer.concat(pieces).equals(BYTES)).toBe(true);
        expect(Math.max(...pieces.map(({ length }) => length))).toBe(65_536);
      }
    },
  );

  it('are read to the end when the upload is disposed of in the middle, and not begun after that', async () => {
    const spooled = await upload('file');
    const pieces = spooled.chunks();
    let size = (await pieces.next()).value!.length;
    await spooled.dispose();
    for await (const piece of pieces) size += piece.length;
    expect(size).toBe(BYTES.length);
    await expect(spooled.chunks().next()).rejects.toThrow('disposed');
  });
});
