import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formOf } from '../../support/form-of.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

let rig: GatewayRig;
let folder: KeysFolder;
const keys = { acme: '', other: '', admin: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.acme = folder.add('acme', 'inference');
  keys.other = folder.add('other', 'inference');
  keys.admin = folder.add('ops', 'admin');
  // No worker: what is sent waits.
  rig = await GatewayRig.start({
    models: [sttModel()],
    settings: { 'auth.keys_file': folder.file },
  });
});
afterAll(() => rig.close());

const waiting = async (id: string, key = keys.acme) => {
  const answer = rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), {
    headers: { ...bearer(key), 'x-request-id': id },
  });
  await until(async () => (await at(`/admin/v1/requests/${id}`, keys.admin)).status === 200);
  return answer;
};

/** Resolves when it is queued. */
const start = async (id: string, key: string) => {
  const answer = waiting(id, key);
  await until(async () => (await at(`/admin/v1/requests/${id}`, keys.admin)).status === 200);
  return { answer };
};

const at = async (path: string, key: string, method: 'GET' | 'POST' = 'GET') => {
  const answer = await fetch(rig.url + path, { method, headers: bearer(key) });
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
  };
};

describe("a tenant's request", () => {
  it('does not exist for another tenant: 404, cancelled false, and it goes on waiting', async () => {
    const answer = waiting('r1');
    await until(async () => (await at('/v1/requests/r1', keys.acme)).status === 200);
    expect(await at('/v1/requests/r1', keys.other)).toMatchObject({
      status: 404,
      body: { error: { code: 'request_not_found' } },
    });
    expect((await at('/v1/requests/r1/explain', keys.other)).status).toBe(404);
    for (const route of [
      'requests',
      'audio/transcriptions',
      'audio/translations',
      'audio/speech',
    ]) {
      expect((await at(`/v1/${route}/r1/cancel`, keys.other, 'POST')).body).toEqual({
        request_id: 'r1',
        cancelled: false,
      });
    }
    expect((await at('/v1/requests/r1', keys.acme)).body).toMatchObject({
      state: 'queued',
      tenant: 'acme',
    });
    expect((await at('/v1/requests/r1/cancel', keys.acme, 'POST')).body).toEqual({
      request_id: 'r1',
      cancelled: true,
    });
    expect((await answer).status).toBe(499);
    expect((await at('/v1/requests/r1', keys.other)).status).toBe(404);
  });

  it('is seen and stopped by an admin, with its tenant', async () => {
    const answer = waiting('r2');
    await until(async () => (await at('/v1/requests/r2', keys.acme)).status === 200);
    expect((await at('/admin/v1/requests', keys.admin)).body).toMatchObject({
      data: [{ request_id: 'r2', tenant: 'acme' }],
    });
    expect((await at('/admin/v1/requests/r2/cancel', keys.admin, 'POST')).body).toMatchObject({
      cancelled: true,
    });
    expect((await answer).status).toBe(499);
  });
});

describe('the keys file, while the server runs', () => {
  it('is taken in again on SIGHUP: new keys open, withdrawn ones close, a broken file changes nothing', async () => {
    const { writeFile, readFile } = await import('node:fs/promises');
    const before = await readFile(folder.file, 'utf8');
    const added = folder.add('late', 'inference');
    process.emit('SIGHUP');
    expect((await at('/v1/models', added)).status).toBe(200);
    await writeFile(folder.file, 'keys: nonsense');
    process.emit('SIGHUP');
    expect((await at('/v1/models', added)).status).toBe(200);
    await writeFile(folder.file, before);
    process.emit('SIGHUP');
    expect((await at('/v1/models', added)).status).toBe(401);
    expect((await at('/v1/models', keys.acme)).status).toBe(200);
  });

  it('is taken in again when it changes', async () => {
    const added = folder.add('later', 'inference');
    await until(async () => (await at('/v1/models', added)).status === 200);
  });
});

describe('an admin', () => {
  it('lists and cancels by tenant, and sees whose requests are ahead', async () => {
    const others = [await start('ahead-1', keys.other), await start('ahead-2', keys.other)];
    const own = await start('behind', keys.acme);
    expect((await at('/admin/v1/requests/behind', keys.admin)).body.ahead).toEqual([
      { tenant: 'other', requests: 1 },
    ]);
    const explained = {
      requests: 1,
      own: 0,
      other_tenants: 1,
      by: { priority: 0, age: 1, fairness: 0 },
    };
    expect((await at('/v1/requests/behind/explain', keys.acme)).body.ahead).toEqual(explained);
    expect((await at('/admin/v1/requests/behind/explain', keys.admin)).body.ahead).toEqual(
      explained,
    );
    expect((await at('/admin/v1/requests?tenant=acme', keys.admin)).body).toMatchObject({
      ...{ total: 1, data: [{ request_id: 'behind' }] },
    });
    const cancelled = await fetch(`${rig.url}/admin/v1/requests/cancel`, {
      method: 'POST',
      headers: { ...bearer(keys.admin), 'content-type': 'application/json' },
      body: JSON.stringify({ tenant: 'other' }),
    });
    expect(await cancelled.json()).toEqual({ cancelled: ['ahead-1', 'ahead-2'] });
    for (const { answer } of others) expect((await answer).status).toBe(499);
    expect((await at('/admin/v1/requests/behind', keys.admin)).body.ahead).toEqual([]);
    await at('/v1/requests/behind/cancel', keys.acme, 'POST');
    expect((await own.answer).status).toBe(499);
  });
});
