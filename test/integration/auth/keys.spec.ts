import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { StoredKeys } from '../../../src/platform/auth/stored-keys.js';
import { formOf } from '../../support/form-of.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

interface CallOptions {
  readonly key?: string;
  readonly body?: object;
  readonly at?: GatewayRig;
}

interface Issued {
  readonly id: string;
  readonly secret: string;
}

let folder: KeysFolder;
let dataDir: string;
let admin: string;
/** Two gateways of one database. */
let rig: GatewayRig;
let other: GatewayRig;

beforeAll(async () => {
  folder = new KeysFolder();
  dataDir = temporaryFolder();
  admin = folder.add('ops', 'admin', 'inference');
  const settings = { 'auth.keys_file': folder.file, 'data.dir': dataDir };
  rig = await GatewayRig.start({ models: [sttModel(), ttsModel()], settings });
  other = await GatewayRig.start({ models: [sttModel(), ttsModel()], settings });
});
afterAll(async () => {
  await rig.close();
  await other.close();
});

async function call(
  method: string,
  path: string,
  { key = admin, body, at = rig }: CallOptions = {},
) {
  const headers = {
    ...bearer(key),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const answer = await fetch(at.url + path, {
    ...{ method, headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
  };
}

async function issue(fields: object = {}): Promise<Issued> {
  const { status, body } = await call('POST', '/admin/v1/keys', {
    body: { name: 'shop', tenant: 'acme', ...fields },
  });
  expect(status).toBe(201);
  return body as unknown as Issued;
}

const works = async (key: string, at = rig) =>
  (await call('GET', '/v1/models', { key, at })).status;
const codeOf = ({ status, body }: Awaited<ReturnType<typeof call>>) => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

describe('a key in the database', () => {
  it('is shown once, listed without its secret, and works on this gateway at once, on others soon', async () => {
    const { id, secret } = await issue({
      expires_in_days: 30,
      limits: { requests_per_minute: 9 },
    });
    expect(secret).toMatch(/^sk-switchyard-/);
    expect(await works(secret)).toBe(200);
    await until(async () => (await works(secret, other)) === 200);
    const { body } = await call('GET', '/admin/v1/keys');
    const [file, stored] = body.data as Record<string, unknown>[];
    expect(file).toMatchObject({
      object: 'api_key',
      source: 'file',
      tenant: 'ops',
      created_at: null,
    });
    expect(stored).toMatchObject({
      id,
      source: 'database',
      tenant: 'acme',
      prefix: secret.slice(0, 18),
      models: null,
    });
    expect(stored).toMatchObject({
      revoked_at: null,
      limits: { requests_per_minute: 9 },
    });
    expect(stored!.expires_at).toBeGreaterThan(Date.now() / 1000);
    expect(JSON.stringify(body)).not.toContain(secret.slice(20));
    expect(JSON.stringify(body)).not.toContain('sha256');
  });

  it('is revoked here at once, and on other gateways within seconds, where its sessions end', async () => {
    const { id, secret } = await issue();
    await until(async () => (await works(secret, other)) === 200);
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/v1/realtime?model=stt`, {
      headers: bearer(secret),
    });
    const closed = new Promise(resolve => socket.once('close', resolve));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    expect(await call('DELETE', `/admin/v1/keys/${id}`)).toMatchObject({
      status: 200,
      body: { id, revoked_at: expect.any(Number) },
    });
    expect(await works(secret)).toBe(401);
    await until(async () => (await works(secret, other)) === 401);
    await closed;
    expect((await call('DELETE', `/admin/v1/keys/${id}`)).status).toBe(200);
    expect(codeOf(await call('POST', `/admin/v1/keys/${id}/rotate`))).toEqual([
      404,
      'key_not_found',
    ]);
  });

  it('is rotated: the old secret ends at once, or stays for the grace time', async () => {
    const { id, secret: first } = await issue();
    const { body: second } = await call('POST', `/admin/v1/keys/${id}/rotate`, {
      body: { grace_s: 3600 },
    });
    expect([await works(first), await works(String(second.secret))]).toEqual([200, 200]);
    const { body: third } = await call('POST', `/admin/v1/keys/${id}/rotate`);
    expect(third).toMatchObject({ id, tenant: 'acme' });
    const secrets = [first, String(second.secret), String(third.secret)];
    expect(await Promise.all(secrets.map(secret => works(secret)))).toEqual([401, 401, 200]);
  });

  it('is changed: limits, name, scopes and expiry, here at once and on other gateways within seconds', async () => {
    const { id, secret } = await issue({ limits: { requests_per_minute: 600 } });
    const change = (body: object) => call('PATCH', `/admin/v1/keys/${id}`, { body });
    const limitAt = async (at: GatewayRig) => {
      const answer = await fetch(`${at.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { ...bearer(secret), 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'tts', input: '' }),
      });
      return answer.headers.get('x-ratelimit-limit-requests');
    };
    await until(async () => (await limitAt(other)) === '600');
    const changed = await change({ name: 'shop 2', limits: { requests_per_minute: 7 } });
    expect(changed).toMatchObject({
      status: 200,
      body: { id, name: 'shop 2', tenant: 'acme', limits: { requests_per_minute: 7 } },
    });
    expect(await limitAt(rig)).toBe('7');
    await until(async () => (await limitAt(other)) === '7');

    await change({ scopes: ['events'] });
    expect(await works(secret)).toBe(403);
    await until(async () => (await works(secret, other)) === 403);

    const soon = Math.floor(Date.now() / 1000) + 3600;
    expect((await change({ scopes: ['inference'], expires_at: soon })).body).toMatchObject({
      scopes: ['inference'],
      expires_at: soon,
      limits: { requests_per_minute: 7 },
    });
    expect(
      (await change({ expires_at: null, limits: null, models: ['tts-1'] })).body,
    ).toMatchObject({ expires_at: null, limits: null, models: ['tts'] });
    expect(codeOf(await call('GET', '/v1/models/stt', { key: secret }))).toEqual([
      404,
      'model_not_found',
    ]);
    expect((await change({ models: null })).body).toMatchObject({ name: 'shop 2', models: null });
  });

  it('that expired works again when it gets another expiry; a revoked one cannot be changed', async () => {
    const { id, secret } = await issue({ expires_at: Math.floor(Date.now() / 1000) + 2 });
    await until(async () => (await works(secret)) === 401);
    const path = `/admin/v1/keys/${id}`;
    expect((await call('PATCH', path, { body: { expires_in_days: 1 } })).status).toBe(200);
    expect(await works(secret)).toBe(200);
    await call('DELETE', path);
    const refused = await call('PATCH', path, { body: { name: 'again' } });
    expect(codeOf(refused)).toEqual([404, 'key_not_found']);
  });

  it('that expired is refused with a message that says so', async () => {
    const { id, secret } = await issue({
      expires_at: Math.floor(Date.now() / 1000) + 2,
    });
    await until(async () => (await works(secret)) === 401);
    const { body } = await call('GET', '/v1/models', { key: secret });
    expect(body).toMatchObject({
      error: {
        code: 'invalid_api_key',
        message: expect.stringContaining(`${id} expired`),
      },
    });
  });

  it('may use its models only: others do not exist for it', async () => {
    const { secret: key } = await issue({ models: ['tts-1'] });
    const { body } = await call('GET', '/v1/models', { key });
    expect((body.data as { id: string }[]).map(({ id }) => id)).toEqual(['tts', 'tts-1']);
    expect(codeOf(await call('GET', '/v1/models/stt', { key }))).toEqual([404, 'model_not_found']);
    const form = formOf({ model: 'whisper-1' }, 'RIFF');
    for (const extra of [{}, { 'idempotency-key': 'i1' }, { prefer: 'respond-async' }]) {
      const answer = await rig.post('/v1/audio/transcriptions', form, {
        headers: { ...bearer(key), ...extra },
      });
      expect(answer.status).toBe(404);
    }
  });

  it('says which priority its requests have that state none', async () => {
    const { secret: key } = await issue({ default_priority: 'realtime' });
    const run = (id: string, headers: Record<string, string> = {}) => {
      const form = formOf({ model: 'stt' });
      void rig.post('/v1/audio/transcriptions', form, {
        headers: { ...bearer(key), 'x-request-id': id, ...headers },
      });
    };
    run('unsaid');
    run('said', { 'x-priority': 'batch' });
    const priorityOf = async (id: string) =>
      (await call('GET', `/admin/v1/requests/${id}`)).body.priority;
    await until(
      async () =>
        (await priorityOf('unsaid')) === 'realtime' && (await priorityOf('said')) === 'batch',
    );
    for (const id of ['unsaid', 'said']) await call('POST', `/admin/v1/requests/${id}/cancel`);
  });

  it('is stored with the time of its last use', async () => {
    const { id, secret } = await issue();
    await works(secret);
    await rig.app.get(StoredKeys, { strict: false }).saveUsed();
    const { body } = await call('GET', '/admin/v1/keys');
    const [found] = (body.data as Record<string, unknown>[]).filter(key => key.id === id);
    expect(found!.last_used_at).toBeGreaterThan(0);
  });
});

describe('routes of keys', () => {
  it.each([
    [{ name: 'n' }, 'tenant'],
    [{ name: 'n', tenant: 'a b' }, 'tenant'],
    [{ name: '', tenant: 'a' }, 'name'],
    [{ name: 'a\nb', tenant: 'a' }, 'name'],
    [{ name: 'n', tenant: 'a', scopes: ['root'] }, 'scopes'],
    [{ name: 'n', tenant: 'a', scopes: [] }, 'scopes'],
    [{ name: 'n', tenant: 'a', models: ['nowhere'] }, 'model'],
    [{ name: 'n', tenant: 'a', limits: { wishes: 3 } }, 'limits'],
    [{ name: 'n', tenant: 'a', expires_in_days: 0 }, 'expires_in_days'],
    [{ name: 'n', tenant: 'a', expires_at: 1 }, 'expires_at'],
    [{ name: 'n', tenant: 'a', expires_in_days: 1, expires_at: 4e9 }, 'expires_at'],
    [{ name: 'n', tenant: 'a', default_priority: 'urgent' }, 'default_priority'],
    [{ name: 'n', tenant: 'a', sha256: '0' }, 'sha256'],
  ])('refuse %j', async (body, param) => {
    const answer = await call('POST', '/admin/v1/keys', { body });
    expect([400, 404]).toContain(answer.status);
    expect(answer.body).toMatchObject({ error: { param } });
  });

  it.each([
    [{}, 'missing_required_parameter'],
    [{ name: null }, 'missing_required_parameter'],
    [{ name: '' }, 'missing_required_parameter'],
    [{ scopes: [] }, 'invalid_value'],
    [{ scopes: ['root'] }, 'invalid_value'],
    [{ models: [] }, 'invalid_value'],
    [{ models: ['nowhere'] }, 'model_not_found'],
    [{ limits: { requests_per_minute: 0 } }, 'invalid_value'],
    [{ expires_in_days: 1, expires_at: 4e9 }, 'invalid_value'],
    [{ tenant: 'other' }, 'invalid_value'],
  ])('refuse the change %j', async (body, code) => {
    const { id } = await issue();
    const answer = await call('PATCH', `/admin/v1/keys/${id}`, { body });
    expect(codeOf(answer)[1]).toBe(code);
  });

  it('do not change keys of the file, nor unknown ones', async () => {
    const { body } = await call('GET', '/admin/v1/keys');
    const { id } = (body.data as { id: string }[])[0]!;
    expect(codeOf(await call('DELETE', `/admin/v1/keys/${id}`))).toEqual([409, 'key_is_from_file']);
    expect(codeOf(await call('POST', `/admin/v1/keys/${id}/rotate`))).toEqual([
      409,
      'key_is_from_file',
    ]);
    const change = { body: { limits: { requests_per_minute: 1 } } };
    expect(codeOf(await call('PATCH', `/admin/v1/keys/${id}`, change))).toEqual([
      409,
      'key_is_from_file',
    ]);
    expect(codeOf(await call('PATCH', '/admin/v1/keys/none', change))).toEqual([
      404,
      'key_not_found',
    ]);
    expect(codeOf(await call('DELETE', '/admin/v1/keys/none'))).toEqual([404, 'key_not_found']);
    expect(await works(admin)).toBe(200);
  });

  it('are closed to keys without the scope admin', async () => {
    const { secret: key } = await issue();
    expect(codeOf(await call('GET', '/admin/v1/keys', { key }))).toEqual([403, 'missing_scope']);
    expect(codeOf(await call('POST', '/admin/v1/keys', { key, body: {} }))).toEqual([
      403,
      'missing_scope',
    ]);
  });
});
