import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../api/gateway-rig.js';
import { answerOf, JobsRig } from './jobs-rig.js';

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start({
    'files.tenant_quota_bytes': 1000,
    'files.batch_expiry_ms': 0,
  });
});
afterAll(() => rig.close());

describe('parts of uploads', () => {
  const part = (id: string, content: string): Promise<Response> => {
    const form = new FormData();
    form.set('data', new Blob([content]), 'blob');
    return rig.gateway.post(`/v1/uploads/${id}/parts`, form);
  };

  it('count in the quota until they are cancelled, or are a file', async () => {
    const tooMuch = { status: 413, code: 'storage_quota_exceeded', param: 'file' };
    const upload = { bytes: 500, purpose: 'vision', filename: 'x', mime_type: 'a/b' };
    const begin = () => answerOf<{ id: string }>(rig.gateway.post('/v1/uploads', upload));
    const kept = await rig.file('a'.repeat(400), { purpose: 'vision' });
    const [one, other] = [await begin(), await begin()];
    const { id } = await answerOf<{ id: string }>(part(one.id, 'b'.repeat(500)));
    for (const upload of [one, other]) await expectError(part(upload.id, 'c'.repeat(101)), tooMuch);
    await expectError(rig.upload('d'.repeat(101), { purpose: 'vision' }), tooMuch);
    await answerOf(part(other.id, 'c'.repeat(100)));
    await answerOf(rig.gateway.post(`/v1/uploads/${other.id}/cancel`, {}));
    const made = await answerOf<{ file: { id: string } }>(
      rig.gateway.post(`/v1/uploads/${one.id}/complete`, { part_ids: [id] }),
    );
    await expectError(rig.upload('d'.repeat(101), { purpose: 'vision' }), tooMuch);
    for (const file of [kept.id, made.file.id])
      await fetch(`${rig.url}/v1/files/${file}`, { method: 'DELETE' });
  });
});

describe('files.tenant_quota_bytes', () => {
  it('refuses what would exceed 1000 bytes, and takes it once others were deleted', async () => {
    const first = await rig.file('a'.repeat(600));
    await expectError(rig.upload('b'.repeat(401), { purpose: 'vision' }), {
      ...{ status: 413, code: 'storage_quota_exceeded', param: 'file' },
    });
    await rig.file('c'.repeat(400));
    await fetch(`${rig.url}/v1/files/${first.id}`, { method: 'DELETE' });
    await rig.file('d'.repeat(600));
  });
});

describe('files.batch_expiry_ms', () => {
  it('of 0 keeps the files of batches until they are deleted', async () => {
    const { data } = (await (await fetch(`${rig.url}/v1/files`)).json()) as {
      data: object[];
    };
    expect(data).toHaveLength(2);
    for (const file of data) expect(file).not.toHaveProperty('expires_at');
  });
});
