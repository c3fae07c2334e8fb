import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GarbageCollector } from '../../../src/gateway/jobs/garbage-collector.js';
import { answerOf, JobsRig } from './jobs-rig.js';

const HOUR_MS = 3_600_000;
const MONTH_MS = 31 * 24 * HOUR_MS;

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start();
});
afterAll(() => rig.close());

const collect = (afterMs: number) =>
  rig.gateway.app.get(GarbageCollector, { strict: false }).collect(Date.now() + afterMs);

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from('nobody'));
}

describe('garbage', () => {
  it('is a file past its expiry, row and bytes, and one an unfinished batch reads only after its end', async () => {
    const kept = await rig.file('kept', { purpose: 'vision' });
    const { id, input_file_id: read } = await rig.batch();
    await rig.file('old');
    expect(await collect(MONTH_MS)).toMatchObject({ files: 1 });
    expect((await rig.blobKeys()).map(key => key.split('/').at(-1)).sort()).toEqual([kept.id, read].sort());
    await rig.finish(id);
    expect(await collect(MONTH_MS)).toMatchObject({ files: 1 });
    expect((await fetch(`${rig.url}/v1/files/${read}`)).status).toBe(404);
    expect((await rig.content(kept.id)).status).toBe(200);
  });

  it('are bytes that no row names, once they are an hour old', async () => {
    await rig.blobs.write('files/0123456789abcdef/file-of-nobody', bytes());
    expect(await collect(HOUR_MS - 60_000)).toMatchObject({ orphans: 0 });
    expect(await collect(HOUR_MS + 60_000)).toMatchObject({ orphans: 1 });
    expect(await rig.blobKeys()).not.toContain('files/0123456789abcdef/file-of-nobody');
  });

  it('are drafts of writes that never ended, once they are an hour old', async () => {
    await rig.gateway.leaveDraft();
    expect(await collect(HOUR_MS - 60_000)).toMatchObject({ orphans: 0 });
    expect(await collect(HOUR_MS + 60_000)).toMatchObject({ orphans: 1 });
    expect(await rig.gateway.drafts()).toEqual([]);
  });

  it('is an upload after its hour, with its parts', async () => {
    const order = { bytes: 3, filename: 'a', mime_type: 'text/plain', purpose: 'evals' };
    const { id } = await answerOf<{ id: string }>(rig.gateway.post('/v1/uploads', order));
    const form = new FormData();
    form.set('data', new Blob(['abc']), 'a');
    await answerOf(rig.gateway.post(`/v1/uploads/${id}/parts`, form));
    expect(await collect(HOUR_MS - 60_000)).toEqual({ files: 0, uploads: 0, orphans: 0 });
    expect(await collect(HOUR_MS + 60_000)).toEqual({ files: 0, uploads: 1, orphans: 1 });
  });
});
