import { open, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { ReceivedFile } from './received-file.js';

const ours = async () =>
  (await readdir(tmpdir())).filter(name => name.startsWith('switchyard-audio-'));

describe('ReceivedFile', () => {
  it('gives back what was appended, and has no name that could stay behind', async () => {
    const before = await ours();
    await using file = await ReceivedFile.open(100);
    await file.append(Buffer.from('one '));
    await file.append(Buffer.from('two'));
    expect(await ours()).toEqual(before);
    expect([(await file.bytes()).toString(), file.size]).toEqual(['one two', 7]);
  });

  it('is file_too_large at the first byte over the limit', async () => {
    await using file = await ReceivedFile.open(4);
    await file.append(Buffer.alloc(4));
    await expect(file.append(Buffer.alloc(1))).rejects.toMatchObject({
      code: 'file_too_large',
      param: 'file',
    });
  });

  it('is storage_full, which says where, on a full disk', async () => {
    await using file = await ReceivedFile.open(100, () => open('/dev/full', 'w'));
    const failure = { code: 'storage_full', message: expect.stringContaining('temporary folder') };
    await expect(file.append(Buffer.alloc(10))).rejects.toMatchObject(failure);
  });

  it('is storage_full when not even the file can be made', async () => {
    const create = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    await expect(ReceivedFile.open(1, create)).rejects.toMatchObject({ code: 'storage_full' });
  });
});
