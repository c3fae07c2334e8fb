import { beforeEach, expect, it } from '@jest/globals';
import { type Upload } from '../../../src/core/jobs/job.ports.js';
import { type FileStore, type UploadStore } from '../../../src/platform/database/file-store.js';
import { type JobClaims } from '../../../src/platform/database/job-claims.js';
import { type JobStore } from '../../../src/platform/database/job-store.js';
import { batchJob, NOW_MS, storedFile, TENANT } from './batch-fixtures.js';

export interface FileStores {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly jobs: JobStore;
  readonly claims: JobClaims;
}

const upload = (change: Partial<Upload> = {}): Upload => ({
  id: 'upload_1',
  tenant: TENANT,
  purpose: 'batch',
  filename: 'big.jsonl',
  mimeType: 'application/jsonl',
  bytes: 10,
  status: 'pending',
  createdAtMs: NOW_MS,
  expiresAtMs: NOW_MS + 3_600_000,
  ...change,
});

const part = (id: string, uploadId = 'upload_1') => ({
  id,
  uploadId,
  blobKey: `parts/${id}`,
  bytes: 5,
  createdAtMs: NOW_MS,
});

/** What every file table does. */
export function fileStoreContract(fresh: () => Promise<FileStores>): void {
  let files: FileStore;
  let uploads: UploadStore;
  let jobs: JobStore;
  let claims: JobClaims;

  beforeEach(async () => {
    ({ files, uploads, jobs, claims } = await fresh());
  });

  it('gives back every field, sizes above 2^31 too', async () => {
    const file = storedFile({ expiresAtMs: NOW_MS + 1 });
    await files.create(file);
    expect(await files.find(TENANT, file.id)).toEqual(file);
    expect(await files.find('tenant-b', file.id)).toBeUndefined();
  });

  it('adds up the bytes of a tenant, above 2^31 too', async () => {
    expect(await files.bytesOf(TENANT)).toBe(0);
    for (const bytes of [3_000_000_000, 7]) await files.create(storedFile({ bytes }));
    expect([await files.bytesOf(TENANT), await files.bytesOf('tenant-b')]).toEqual([
      3_000_000_007, 0,
    ]);
  });

  it('lists by purpose, newest first or oldest first, with cursors', async () => {
    const made = [storedFile(), storedFile({ purpose: 'batch_output' }), storedFile()];
    for (const file of made) await files.create(file);
    const [first, , third] = made.map(({ id }) => id);
    const ids = async (page: Parameters<FileStore['list']>[1]) =>
      (await files.list(TENANT, page))?.data.map(({ id }) => id);
    expect(await ids({ limit: 10, purpose: 'batch' })).toEqual([third, first]);
    expect(await ids({ limit: 10, purpose: 'batch', order: 'asc' })).toEqual([first, third]);
    expect(await ids({ limit: 10, purpose: 'batch', after: third! })).toEqual([first]);
    expect(await ids({ limit: 10, after: 'file-none' })).toBeUndefined();
  });

  it('removes its own tenant’s files only, once', async () => {
    const file = storedFile();
    await files.create(file);
    expect(await files.remove('tenant-b', file.id)).toBe(false);
    expect([await files.remove(TENANT, file.id), await files.remove(TENANT, file.id)]).toEqual([
      true,
      false,
    ]);
  });

  it('makes and removes files of a batch only for the epoch that holds it', async () => {
    const { id: jobId } = (await jobs.create(batchJob())).job;
    const { epoch } = (await claims.claim('p1', 0))!;
    const [early, kept, late] = [
      storedFile(),
      storedFile({ expiresAtMs: NOW_MS + 1 }),
      storedFile(),
    ];
    expect(await files.createFor({ jobId, epoch }, early)).toBe(true);
    const next = (await claims.claim('p2', 1000))!.epoch;
    expect(await files.createFor({ jobId, epoch: next }, kept)).toBe(true);
    expect(await files.createFor({ jobId, epoch }, late)).toBe(false);
    await files.removeFor({ jobId, epoch }, [early.id, kept.id]);
    expect(await files.madeFor(jobId, { limit: 10 })).toEqual([early.id, kept.id]);
    expect(await files.madeFor(jobId, { limit: 10, after: early.id })).toEqual([kept.id]);
    const elsewhere = storedFile();
    await files.create(elsewhere);
    await files.removeFor({ jobId, epoch: next }, [early.id, elsewhere.id]);
    expect(await files.madeFor(jobId, { limit: 10 })).toEqual([kept.id]);
    expect(await files.find(TENANT, kept.id)).toEqual(kept);
    expect(await files.find(TENANT, elsewhere.id)).toEqual(elsewhere);
    await claims.update(jobId, next, { status: 'failed' }, NOW_MS);
    expect(await files.createFor({ jobId, epoch: next }, late)).toBe(false);
    await files.removeFor({ jobId, epoch: next }, [kept.id]);
    expect(await files.madeFor(jobId, { limit: 10 })).toEqual([kept.id]);
  });

  it('expires what is past its time, except what an unfinished batch reads', async () => {
    const [gone, used, kept] = [
      storedFile({ expiresAtMs: NOW_MS }),
      storedFile({ expiresAtMs: NOW_MS }),
      storedFile({ expiresAtMs: NOW_MS + 1 }),
    ];
    for (const file of [gone, used, kept, storedFile()]) await files.create(file);
    await jobs.create(batchJob({ inputFileId: used.id }));
    expect((await files.expire(NOW_MS, 10)).map(({ id }) => id)).toEqual([gone.id]);
  });

  it('tells which blobs a file or a part still names', async () => {
    const file = storedFile();
    await files.create(file);
    await uploads.create(upload());
    await uploads.addPart(part('part_1'));
    const keys = [file.blobKey, 'parts/part_1', 'files/orphan'];
    expect(await files.referenced(keys)).toEqual(new Set([file.blobKey, 'parts/part_1']));
    expect(await files.referenced([])).toEqual(new Set());
  });

  it('takes parts while an upload is pending, and ends it once', async () => {
    await uploads.create(upload({ fileExpiresAfterS: 3600 }));
    expect([await uploads.addPart(part('part_1')), await uploads.addPart(part('part_2'))]).toEqual([
      true,
      true,
    ]);
    expect((await uploads.parts('upload_1')).map(({ id }) => id)).toEqual(['part_1', 'part_2']);
    const ends = await Promise.all([
      uploads.end('upload_1', 'completed', 'file-1'),
      uploads.end('upload_1', 'cancelled'),
    ]);
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await uploads.addPart(part('part_3'))).toBe(false);
    expect(await uploads.parts('upload_1')).toEqual([]);
    expect(await uploads.find(TENANT, 'upload_1')).toMatchObject({ fileExpiresAfterS: 3600 });
  });

  it('finds pending uploads past their expiry', async () => {
    await uploads.create(upload());
    await uploads.create(upload({ id: 'upload_2', status: 'completed', fileId: 'file-2' }));
    expect(await uploads.expired(NOW_MS, 10)).toEqual([]);
    expect((await uploads.expired(NOW_MS + 3_600_000, 10)).map(({ id }) => id)).toEqual([
      'upload_1',
    ]);
  });
}
