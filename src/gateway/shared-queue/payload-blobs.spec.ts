import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { PayloadBlobs } from './payload-blobs.js';
import { type SharedQueueLink } from './shared-queue-link.js';

describe('speech in a blob', () => {
  const store = new FsBlobStore(temporaryFolder());
  const blobs = new PayloadBlobs(store, settingsFrom({}), {} as SharedQueueLink);
  const read = async (from?: number) =>
    Buffer.concat(await Array.fromAsync(blobs.read('plane/speech/a', from))).toString();

  it('is read from the byte that was missed, to its end', async () => {
    await store.write('plane/speech/a', Readable.from([Buffer.from('spoken')]));
    expect([await read(), await read(2), await read(5)]).toEqual(['spoken', 'oken', 'n']);
  });

  it('is not read again when nothing was missed', async () => {
    await store.write('plane/speech/a', Readable.from([Buffer.from('spoken')]));
    expect(await read(6)).toBe('');
  });

  it('that was removed is missed, not taken for silence', async () => {
    const missing = Array.fromAsync(blobs.read('plane/speech/gone'));
    await expect(missing).rejects.toBeInstanceOf(BlobMissing);
  });
});
