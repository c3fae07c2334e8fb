import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { MAX_INLINE_BYTES } from '@switchyard/shared-queue/keys.js';
import { type JobCompleted, type JobValue } from '@switchyard/shared-queue/result.codec.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';
import {
  blobOf,
  FILE_BLOBS,
  fileBlobKey,
  JOB_LOG_BLOBS,
  jobLogFolder,
  loadValue,
  mayBeNamed,
  newStoredBlob,
  ORPHAN_AGE_MS,
  STORED_REQUEST_BLOBS,
  storeLarge,
} from './blob-keys.js';
import { FsBlobStore } from './fs-blob-store.js';

const blobs = new FsBlobStore(join(temporaryFolder(), 'blobs'));
const kept = async () => (await Array.fromAsync(blobs.keys(''))).map(({ key }) => key);

describe('the value of a result', () => {
  const valueOf = (bytes: number) => {
    const empty = JSON.stringify({ kind: 'text', text: '' });
    return { kind: 'text', text: 'x'.repeat(bytes - empty.length) } as unknown as JobValue;
  };

  it('stays in Redis up to 32 KiB, and is a blob above that', async () => {
    const small = valueOf(MAX_INLINE_BYTES);
    expect(await storeLarge(blobs, small)).toBe(small);
    expect(await loadValue(blobs, small as JobCompleted['value'])).toBe(small);
    expect(await kept()).toEqual([]);
    const large = valueOf(MAX_INLINE_BYTES + 1);
    const stored = await storeLarge(blobs, large);
    expect(stored).toMatchObject({ kind: 'stored', bytes: MAX_INLINE_BYTES + 1 });
    expect(await loadValue(blobs, stored)).toEqual(large);
    expect(await kept()).toEqual([blobOf(stored)]);
  });

  it.each([
    [{ kind: 'stored', blob: 'queue/1', bytes: 1 }, 'queue/1'],
    [{ kind: 'speech', blob: 'queue/2' }, 'queue/2'],
    [{ kind: 'speech' }, undefined],
    [{ kind: 'text', text: '' }, undefined],
  ])('%j has the blob %s', (value, blob) => {
    expect(blobOf(value as unknown as JobCompleted['value'])).toBe(blob);
  });
});

describe('keys of blobs', () => {
  it('say whose they are', () => {
    const stored = newStoredBlob();
    expect(STORED_REQUEST_BLOBS.idOf(`${stored}/answer`)).toBe(stored);
    expect(JOB_LOG_BLOBS.idOf(`${jobLogFolder('batch_1')}0001`)).toBe('batch_1');
    const key = fileBlobKey('acme', 'file-1');
    expect(key).toMatch(/^files\/[0-9a-f]{16}\/file-1$/);
    expect(FILE_BLOBS.idOf(key)).toBe(key);
    expect(fileBlobKey('other', 'file-1')).not.toBe(key);
  });

  it.each([
    [ORPHAN_AGE_MS / 2 - 60_000, true],
    [ORPHAN_AGE_MS / 2 + 60_000, false],
  ])('of an age of %d ms may come into a row: %p', (ageMs, may) => {
    // Ids of a process grow with time: the clock of this one may not be set back by hours.
    const born = (Date.now() - ageMs).toString(16).padStart(12, '0');
    expect(mayBeNamed(`file-${born}${'0'.repeat(20)}`)).toBe(may);
    expect(mayBeNamed(timeOrderedId('file-', Date.now()))).toBe(true);
  });

  it('without a time may come into one always', () => expect(mayBeNamed('file-none')).toBe(true));
});
