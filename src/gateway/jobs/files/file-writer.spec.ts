import { beforeEach, describe, expect, it } from '@jest/globals';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type FileStore } from '../../../platform/database/file-store.js';
import { FileWriter, limitsOf } from './file-writer.js';

const NOW_MS = 1_000_000;
const HALF_DAY_MS = 43_200_000;
const LIMITS = { maxBytes: 100, maxLines: 10 };
const settings = settingsFrom({
  'files.tenant_quota_bytes': 10,
  'files.batch_expiry_ms': 5000,
  'batch.max_file_bytes': 50,
  'batch.max_lines': 3,
});

describe('files are written', () => {
  let blobs: Map<string, string>;
  let created: StoredFile[];
  let used: number;

  beforeEach(() => void ([blobs, created, used] = [new Map(), [], 0]));

  function writer(own = settings): FileWriter {
    const store: Partial<BlobStore> = {
      write: async (key, bytes) => {
        const text = Buffer.concat(await Array.fromAsync(bytes)).toString();
        blobs.set(key, text);
        return text.length;
      },
      remove: key =>
        blobs.delete(key) ? Promise.resolve() : Promise.reject(new Error('not there')),
    };
    const files = {
      bytesOf: () => Promise.resolve(used),
      clockMs: () => Promise.resolve(NOW_MS),
      create: (file: StoredFile) => Promise.resolve(created.push(file)),
    };
    return new FileWriter(store as BlobStore, files as unknown as FileStore, own);
  }
  const write = (text: string, own?: typeof settings) =>
    writer(own).write(
      't',
      (async function* () {
        yield await Promise.resolve(Buffer.from(text));
      })(),
      LIMITS,
    );

  it('bytes first, then the row', async () => {
    const written = await write('four');
    expect([[...blobs], created]).toEqual([[[written.blobKey, 'four']], []]);
    const named = { purpose: 'user_data', filename: 'f' } as const;
    const file = await writer().publish('t', written, named);
    expect(created).toEqual([file]);
    expect(file).toMatchObject({ ...named, id: written.id, tenant: 't', bytes: 4 });
    expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('but no empty ones', async () => {
    await expect(write('')).rejects.toMatchObject({ code: 'empty_file' });
    expect(blobs.size).toBe(0);
    expect((await write('x')).measured.size).toBe(1);
  });

  it.each([
    [0, 10],
    [9, 1],
    [10, 0],
    [11, 0],
  ])('as long as the tenant, which stores %p, has %p bytes left', async (stored, left) => {
    used = stored;
    if (left > 0) expect((await write('x'.repeat(left))).measured.size).toBe(left);
    const over = write('x'.repeat(left + 1));
    await expect(over).rejects.toMatchObject({ code: 'storage_quota_exceeded' });
    await expect(over).rejects.toThrow(`has ${left} bytes left`);
  });

  it('without bound where there is no quota', async () => {
    used = 1e9;
    const own = settingsFrom({ 'files.tenant_quota_bytes': 0 });
    expect((await write('x'.repeat(100), own)).measured.size).toBe(100);
  });

  it.each([
    ['batch', undefined, NOW_MS + 5000],
    ['batch', 7, NOW_MS + 7000],
    ['user_data', undefined, undefined],
    ['user_data', 1, NOW_MS + 1000],
  ])('for %s, to expire after %p s: at %p', async (purpose, expiresAfterS, expiresAtMs) => {
    const written = await write('x');
    const file = { purpose, filename: 'f', expiresAfterS } as Parameters<FileWriter['publish']>[2];
    expect((await writer().publish('t', written, file)).expiresAtMs).toBe(expiresAtMs);
  });

  it('and never expire where a batch file may not', async () => {
    const own = settingsFrom({ 'files.batch_expiry_ms': 0 });
    const written = await write('x');
    const file = await writer(own).publish('t', written, { purpose: 'batch', filename: 'f' });
    expect(file.expiresAtMs).toBeUndefined();
  });

  it('and get no row once they may be taken for garbage', async () => {
    const written = await write('x');
    const old = { ...written, id: timeOrderedId('file-', Date.now() - HALF_DAY_MS - 60_000) };
    const stored = writer().publish('t', old, { purpose: 'batch', filename: 'f' });
    await expect(stored).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(created).toEqual([]);
  });

  it('and forgotten, whether they are there or not', async () => {
    const written = await write('x');
    await writer().forget(written);
    await writer().forget(written);
    expect(blobs.size).toBe(0);
  });

  it.each([
    ['batch', 200, { maxBytes: 50, maxLines: 3 }],
    ['batch', 20, { maxBytes: 20, maxLines: 3 }],
    ['user_data', 200, { maxBytes: 200, maxLines: Infinity }],
  ])('of %s within their limits', (purpose, most, limits) => {
    expect(limitsOf(purpose, settings, most)).toEqual(limits);
  });
});
