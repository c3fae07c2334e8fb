import { open } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { SpoolWriter } from './spool.js';

/** Linux's own full disk: every write to it is ENOSPC. */
const FULL = '/dev/full';

describe('a full disk', () => {
  it('is storage_full, with the cause kept', async () => {
    const writer = new SpoolWriter('unused', { maxBytes: 1000, memoryBytes: 0 }, () => open(FULL, 'w'));
    const write = writer.write(Buffer.alloc(10));
    await expect(write).rejects.toMatchObject({ code: 'storage_full', cause: { code: 'ENOSPC' } });
    await writer.abort();
  });

  it('is told apart from a folder that may not be written to', async () => {
    const writer = new SpoolWriter('/proc/no-such-folder/file', { maxBytes: 1000, memoryBytes: 0 });
    await expect(writer.write(Buffer.alloc(10))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
