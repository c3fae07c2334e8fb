import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FileWriter } from '../../../src/gateway/jobs/files/file-writer.js';
import { GarbageCollector } from '../../../src/gateway/jobs/garbage-collector.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import {
  fileBlobKey,
  STORED_REQUEST_BLOBS,
  newStoredBlob,
} from '../../../src/platform/storage/blob-keys.js';
import { answerOf, JobsRig } from './jobs-rig.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTH_MS = 31 * DAY_MS;

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start();
});
afterAll(() => rig.close());

/** Counted from the begin of each test, so that a slow one sees the same ages. */
let startMs: number;
const collect = (afterMs: number) =>
  rig.gateway.app.get(GarbageCollector, { strict: false }).collect(startMs + afterMs);

beforeEach(async () => {
  startMs = Date.now();
  // What the test before has left is none of this one's.
  await collect(2 * DAY_MS);
});

/** Ids never go back in time by themselves. */
const timeOrderedIdAt = (ms: number): string =>
  `file-${ms.toString(16).padStart(12, '0')}${'0'.repeat(20)}`;

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from('nobody'));
}

describe('garbage', () => {
  it('is a file past its expiry, row and bytes, and one an unfinished batch reads only after its end', async () => {
    const kept = await rig.file('kept', { purpose: 'vision' });
    const { id, input_file_id: read } = await rig.batch();
    await rig.file('old');
    expect(await collect(MONTH_MS)).toMatchObject({ files: 1 });
    expect((await rig.blobKeys()).map(key => key.split('/').at(-1)).sort()).toEqual(
      [kept.id, read].sort(),
    );
    await rig.finish(id);
    expect(await collect(MONTH_MS)).toMatchObject({ files: 1 });
    expect((await fetch(`${rig.url}/v1/files/${read}`)).status).toBe(404);
    expect((await rig.content(kept.id)).status).toBe(200);
  });

  it('are bytes that no row names, once they are a day old', async () => {
    await rig.blobs.write('files/0123456789abcdef/file-of-nobody', bytes());
    expect(await collect(DAY_MS - 60_000)).toMatchObject({ orphans: 0 });
    expect(await collect(2 * DAY_MS)).toMatchObject({ orphans: 1 });
    expect(await rig.blobKeys()).not.toContain('files/0123456789abcdef/file-of-nobody');
  });

  it('are body and answer of a stored request that no row names, and never those of one that has its row', async () => {
    const store = rig.gateway.app.get(StoredRequestStore, {
      strict: false,
    });
    const [named, nobodys] = [newStoredBlob(), newStoredBlob()];
    const nowMs = Date.now();
    await store.open(
      {
        ...{
          tenant: 'default',
          name: 'id:kept',
          requestId: 'kept',
          mode: 'waiting',
          path: '/v1/x',
          fingerprint: '',
        },
        ...{
          headers: {},
          blob: named,
          status: 'running',
          createdAtMs: nowMs,
          expiresAtMs: nowMs + MONTH_MS,
        },
      },
      { owner: 'somebody', leaseMs: MONTH_MS },
    );
    for (const blob of [named, nobodys])
      for (const part of ['body', 'answer']) await rig.blobs.write(`${blob}/${part}`, bytes());
    expect(await collect(DAY_MS - 60_000)).toMatchObject({ orphans: 0 });
    expect(await collect(2 * DAY_MS)).toMatchObject({ orphans: 2 });
    const keys: string[] = [];
    for await (const { key } of rig.blobs.keys(STORED_REQUEST_BLOBS.prefix)) keys.push(key);
    expect(keys.sort()).toEqual([`${named}/answer`, `${named}/body`]);
  });

  it('are drafts of writes that never ended, once they are a day old', async () => {
    await rig.gateway.leaveDraft();
    expect(await collect(DAY_MS - 60_000)).toMatchObject({ orphans: 0 });
    expect(await collect(2 * DAY_MS)).toMatchObject({ orphans: 1 });
    expect(await rig.gateway.drafts()).toEqual([]);
  });

  it('is the copied result log of a batch that has ended or is gone, and never that of one that has not', async () => {
    const [ended, running] = [await rig.batch(), await rig.batch()];
    for (const id of [ended.id, running.id, 'batch_0'])
      await rig.blobs.write(`jobs/${id}/log/1-0.log/0`, bytes());
    await rig.finish(ended.id);
    expect(await collect(DAY_MS - 60_000)).toMatchObject({ logs: 0 });
    expect(await collect(2 * DAY_MS)).toMatchObject({ logs: 2 });
    const keys: string[] = [];
    for await (const { key } of rig.blobs.keys('jobs/')) keys.push(key);
    expect(keys).toEqual([`jobs/${running.id}/log/1-0.log/0`]);
    await rig.finish(running.id);
  });

  it('are no bytes with a name that is young, however old the bucket says they are', async () => {
    const key = fileBlobKey('nobody', timeOrderedIdAt(Date.now() + 2 * DAY_MS));
    await rig.blobs.write(key, bytes());
    expect(await collect(2 * DAY_MS)).toMatchObject({ orphans: 0 });
    expect(await collect(4 * DAY_MS)).toMatchObject({ orphans: 1 });
  });

  it('is never named: what took half of that day to store becomes no file', async () => {
    const writer = rig.gateway.app.get(FileWriter, { strict: false });
    const written = await writer.write('default', bytes(), {
      maxBytes: 100,
      maxLines: 1,
    });
    const late = { ...written, id: timeOrderedIdAt(Date.now() - DAY_MS / 2 - 60_000) };
    const facts = { purpose: 'evals', filename: 'late' } as const;
    await expect(writer.publish('default', late, facts)).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    await writer.publish(
      'default',
      { ...late, id: timeOrderedIdAt(Date.now() - DAY_MS / 4) },
      facts,
    );
  });

  it('is an upload after its hour, with its parts', async () => {
    const order = { bytes: 3, filename: 'a', mime_type: 'text/plain', purpose: 'evals' };
    const { id } = await answerOf<{ id: string }>(rig.gateway.post('/v1/uploads', order));
    const form = new FormData();
    form.set('data', new Blob(['abc']), 'a');
    await answerOf(rig.gateway.post(`/v1/uploads/${id}/parts`, form));
    expect(await collect(HOUR_MS - 60_000)).toEqual({
      files: 0,
      uploads: 0,
      orphans: 0,
      logs: 0,
    });
    expect(await collect(2 * DAY_MS)).toEqual({
      files: 0,
      uploads: 1,
      orphans: 1,
      logs: 0,
    });
  });
});
