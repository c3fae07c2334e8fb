import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { forwardedUsers } from '../../../src/platform/auth/forwarded-users.js';
import { readKeysFile } from '../../../src/platform/auth/keys-file.js';
import { formOf } from '../../support/form-of.js';
import { expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

const USER = 'X-OpenWebUI-User-Id';
const principal = (keyId?: string) => ({
  tenant: 'web',
  scopes: new Set(['inference'] as const),
  ...(keyId && { keyId }),
});
const tenantOf = (trusted: string, user: string, address = '192.0.2.1', keyId = 'front') =>
  forwardedUsers(trusted)(principal(keyId), {
    headers: { [USER.toLowerCase()]: user },
    ip: address,
  }).tenant;

describe('users that a front end names', () => {
  it.each([
    ['front', '192.0.2.1', 'web~ada'],
    ['192.0.2.1', '192.0.2.1', 'web~ada'],
    ['192.0.2.0/24', '::ffff:192.0.2.9', 'web~ada'],
    ['2001:db8::/32', '2001:db8::1', 'web~ada'],
    ['back, 192.0.2.2', '192.0.2.1', 'web'],
    ['', '192.0.2.1', 'web'],
  ])('trusted %j, from %s: tenant %s', (trusted, address, tenant) => {
    expect(tenantOf(trusted, 'ada', address)).toBe(tenant);
  });

  it('never share a tenant, and its name is never too long', () => {
    const long = ['a', 'b'].map(end => tenantOf('front', 'x'.repeat(63) + end));
    for (const { length } of long) expect(length).toBeLessThanOrEqual(64);
    expect(long[0]).not.toBe(long[1]);
  });

  it('never have the name of a tenant that a key or a claim can have', () => {
    for (const user of ['ada', 'x'.repeat(64)])
      expect(tenantOf('front', user)).not.toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  });

  it('are believed from no request of the gateway itself, and from none without a key', () => {
    expect(tenantOf('127.0.0.1', 'ada', '127.0.0.1', '')).toBe('web');
  });
});

describe('behind the gateway', () => {
  let rig: GatewayRig;
  let folder: KeysFolder;
  const keys = { front: '', other: '' };
  beforeAll(async () => {
    folder = new KeysFolder();
    keys.front = folder.add('web', 'inference');
    keys.other = folder.add('other', 'inference');
    const [front] = readKeysFile(folder.file);
    rig = await GatewayRig.start({
      models: [sttModel()],
      settings: {
        'auth.keys_file': folder.file,
        'auth.forwarded_users_from': front!.id,
      },
    });
  });
  afterAll(() => rig.close());

  const upload = async (user: string, key = keys.front): Promise<string> => {
    const answer = await rig.post('/v1/files', formOf({ purpose: 'user_data' }, 'x', 'x.txt'), {
      headers: { ...bearer(key), [USER]: user },
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const files = async (user: string, key = keys.front): Promise<string[]> => {
    const answer = await fetch(`${rig.url}/v1/files`, {
      headers: { ...bearer(key), [USER]: user },
    });
    return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };

  it('each user of a trusted key has files of its own; the header of another key changes nothing', async () => {
    const [ada, bob] = [await upload('ada'), await upload('bob')];
    expect([await files('ada'), await files('bob')]).toEqual([[ada], [bob]]);
    const own = await upload('ada', keys.other);
    expect(await files('bob', keys.other)).toEqual([own]);
  });

  it('refuses a name that is none', async () => {
    const headers = { ...bearer(keys.front), [USER]: 'a/b' };
    await expectError(fetch(`${rig.url}/v1/files`, { headers }), {
      status: 400,
      code: 'invalid_value',
    });
  });
});
