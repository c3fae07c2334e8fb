import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type FileStore, type UploadStore } from '../../platform/database/file-store.js';
import { type JobStore } from '../../platform/database/job-store.js';
import { type StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { ORPHAN_AGE_MS } from '../../platform/storage/blob-keys.js';
import { GarbageCollector } from './garbage-collector.js';

const NOW_MS = 1_000 * ORPHAN_AGE_MS;
const OLD_MS = NOW_MS - ORPHAN_AGE_MS - 1;
/** Rows of a statement. */
const PORTION = 500;

describe('the garbage collector', () => {
  let blobs: Map<string, number>;
  let needed: Set<string>;
  let asked: number;
  let expiredFiles: { blobKey: string }[];
  let ended: string[];
  let fails: boolean;
  let rounds: number;
  let collector: GarbageCollector;

  beforeEach(() => {
    [blobs, needed, asked, expiredFiles, ended] = [new Map(), new Set(), 0, [], []];
    [fails, rounds] = [false, 0];
    const among = (ids: readonly string[]) => {
      asked += 1;
      return Promise.resolve(new Set(ids.filter(id => needed.has(id))));
    };
    const files = {
      expire: (_: number, limit: number) => Promise.resolve(expiredFiles.splice(0, limit)),
      referenced: among,
    };
    const uploads = {
      clockMs: () => {
        rounds += 1;
        return fails ? Promise.reject(new Error('away')) : Promise.resolve(NOW_MS);
      },
      expired: () => Promise.resolve([{ id: 'u1' }, { id: 'u2' }]),
      end: (id: string, status: string) => Promise.resolve(ended.push(`${id} ${status}`)),
    };
    const store: Partial<BlobStore> = {
      keys: async function* (prefix: string) {
        for (const [key, writtenAtMs] of [...blobs])
          if (key.startsWith(prefix)) yield await Promise.resolve({ key, writtenAtMs });
      } as BlobStore['keys'],
      remove: key => Promise.resolve(void blobs.delete(key)),
      removeDrafts: beforeMs => Promise.resolve(beforeMs === NOW_MS - ORPHAN_AGE_MS ? 7 : 0),
    };
    collector = new GarbageCollector(
      files as unknown as FileStore,
      uploads as unknown as UploadStore,
      { unfinishedAmong: among } as unknown as JobStore,
      { referenced: among } as unknown as StoredRequestStore,
      store as BlobStore,
      settingsFrom({ 'files.gc_interval_ms': 1000 }),
    );
  });
  afterEach(async () => {
    collector.onModuleDestroy();
    await collector.beforeApplicationShutdown();
  });

  it('removes expired files with their bytes, however many, and expired uploads', async () => {
    expiredFiles = Array.from({ length: 2 * PORTION }, (_, at) => ({ blobKey: `files/${at}` }));
    for (const { blobKey } of expiredFiles) blobs.set(blobKey, NOW_MS);
    expect(await collector.collect(NOW_MS)).toEqual({
      files: 2 * PORTION,
      uploads: 2,
      orphans: 7,
      logs: 0,
    });
    expect([blobs.size, ended]).toEqual([0, ['u1 expired', 'u2 expired']]);
  });

  it('removes old bytes that nothing needs, of files, requests and batches', async () => {
    const keys = ['files/a/f', 'kept/r/body', 'kept/r/1', 'jobs/j/log/1', 'jobs/j/log/2'];
    for (const key of keys) blobs.set(key, OLD_MS);
    needed = new Set(['files/a/needed', 'kept/needed', 'needed']);
    const kept = ['files/a/needed', 'kept/needed/1', 'jobs/needed/log/1', 'queue/x'];
    for (const key of kept) blobs.set(key, OLD_MS);
    expect(await collector.collect(NOW_MS)).toMatchObject({ orphans: 3 + 7, logs: 2 });
    expect([...blobs.keys()]).toEqual(kept);
  });

  it('keeps what was written or named within a day', async () => {
    blobs.set('files/a/new', OLD_MS + 1);
    blobs.set(`files/a/${timeOrderedId('file-', OLD_MS)}`, 0);
    blobs.set(`files/a/${timeOrderedId('file-', OLD_MS + 1)}`, 0);
    expect(await collector.collect(NOW_MS)).toMatchObject({ orphans: 1 + 7 });
    expect(blobs.size).toBe(2);
  });

  it.each([
    [PORTION, 1],
    [PORTION + 1, 2],
  ])('asks for %p keys in %p queries', async (count, queries) => {
    for (let at = 0; at < count; at++) blobs.set(`files/a/${at}`, OLD_MS);
    expect(await collector.collect(NOW_MS)).toMatchObject({ orphans: count + 7 });
    expect([asked, blobs.size]).toEqual([queries, 0]);
  });

  it('ends within a portion when the gateway ends', async () => {
    for (let at = 0; at <= PORTION; at++) blobs.set(`files/a/${at}`, OLD_MS);
    expiredFiles = Array.from({ length: 2 * PORTION }, () => ({ blobKey: 'none' }));
    collector.onModuleDestroy();
    expect(await collector.collect(NOW_MS)).toMatchObject({ files: PORTION, orphans: PORTION + 7 });
  });

  it('runs round after round, also after one that failed, until the gateway ends', async () => {
    fails = true;
    collector.onApplicationBootstrap();
    while (rounds < 2) await new Promise(resolve => setTimeout(resolve, 50));
    collector.onModuleDestroy();
    await collector.beforeApplicationShutdown();
    expect(rounds).toBe(2);
  });
});
