import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../api/gateway-rig.js';
import { JobsRig } from './jobs-rig.js';

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start({
    'files.tenant_quota_bytes': 1000,
    'files.batch_expiry_ms': 0,
  });
});
afterAll(() => rig.close());

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
