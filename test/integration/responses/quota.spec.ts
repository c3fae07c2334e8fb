import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ResponseClient } from '../../support/response-client.js';
import { errorOf, GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { syntheticLlm } from '../generation/generation-rig.js';

const FULL = 'x'.repeat(3000);
const short = { max_output_tokens: 16 };

let folder: KeysFolder;
let rig: GatewayRig;
let acme: ResponseClient;
let other: ResponseClient;

beforeAll(async () => {
  folder = new KeysFolder();
  const keys = ['acme', 'other'].map(tenant => folder.add(tenant, 'inference'));
  const settings = {
    'auth.keys_file': folder.file,
    'responses.tenant_quota_bytes': 3000,
  };
  rig = await GatewayRig.start({
    models: [syntheticLlm({ maxConcurrent: 8 })],
    settings,
    launch: 'hosted',
  });
  [acme, other] = keys.map(key => new ResponseClient(rig.url, bearer(key))) as [
    ResponseClient,
    ResponseClient,
  ];
}, 60_000);
afterAll(() => rig.close());

describe('responses.tenant_quota_bytes', () => {
  it('refuses what would be stored beyond it, until responses are deleted; other tenants have their own', async () => {
    const { id } = await acme.created(FULL, short);
    for (const fields of [{}, { background: true }, { store: true }]) {
      const refusal = await errorOf(acme.create('more', { ...short, ...fields }));
      expect(refusal).toMatchObject({
        status: 413,
        code: 'storage_quota_exceeded',
        param: 'store',
      });
      expect(refusal.message).toContain('stored responses');
    }
    expect(await acme.created('more', { ...short, store: false })).toMatchObject({
      store: false,
    });
    await other.created('theirs', short);
    await acme.remove(id);
    const made = await acme.created('fits', { ...short, background: true });
    await until(async () =>
      ['completed', 'incomplete'].includes((await acme.found(made.id)).status),
    );
  });
});
