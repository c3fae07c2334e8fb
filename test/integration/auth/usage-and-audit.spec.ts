import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SessionActivity } from '../../../src/gateway/realtime/session/session-activity.js';
import {
  ShortLivedTokens,
  internalTokens,
  TOKEN_SECRET,
} from '../../../src/platform/auth/short-lived-tokens.js';
import { JobStore } from '../../../src/platform/database/job-store.js';
import { formOf } from '../../support/form-of.js';
import { scraped } from '../../support/scheduler-harness.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

type Answer = Record<string, unknown> & { readonly data: Record<string, unknown>[] };

let folder: KeysFolder;
let admin: string;
let rig: GatewayRig;

beforeAll(async () => {
  folder = new KeysFolder();
  admin = folder.add('ops', 'admin', 'inference');
  // No worker: what is sent waits until it is cancelled.
  rig = await GatewayRig.start({
    models: [sttModel(), ttsModel()],
    settings: { 'auth.keys_file': folder.file },
  });
});
afterAll(() => rig.close());

async function call(
  method: string,
  path: string,
  { key = admin, body }: { key?: string; body?: object } = {},
) {
  const headers = {
    ...bearer(key),
    ...(body && { 'content-type': 'application/json' }),
  };
  const answer = await fetch(rig.url + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

const issue = async () => {
  const { body } = await call('POST', '/admin/v1/keys', {
    body: { name: 'shop', tenant: 'acme' },
  });
  return { id: String(body.id), secret: String(body.secret) };
};

/** A request that waits, and is cancelled by the operator. */
async function cancelledRequest(id: string, headers: Record<string, string>): Promise<void> {
  const answer = rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), {
    headers: { 'x-request-id': id, ...headers },
  });
  await until(async () => (await call('GET', `/admin/v1/requests/${id}`)).status === 200);
  await call('POST', `/admin/v1/requests/${id}/cancel`);
  expect((await answer).status).toBe(499);
}

describe('usage', () => {
  it('counts each settled request once for its key, also one that ran for a retry', async () => {
    const { id, secret } = await issue();
    await cancelledRequest('u1', bearer(secret));
    await cancelledRequest('u2', { ...bearer(secret), 'idempotency-key': 'i1' });
    const { body } = await call('GET', '/admin/v1/usage?group_by=tenant,key,model&tenant=acme');
    expect(body.data).toEqual(
      [
        {
          tenant: 'acme',
          key: id,
          model: 'stt',
          requests: 2,
          completed: 0,
          failed: 0,
          cancelled: 2,
          audio_s: 0,
        },
      ].map(row => expect.objectContaining(row)),
    );
    const { body: tenants } = await call('GET', '/admin/v1/tenants');
    expect(tenants.data).toEqual([
      expect.objectContaining({ object: 'tenant', id: 'acme', keys: 1 }),
      expect.objectContaining({ id: 'ops', keys: 1 }),
    ]);
    expect(tenants.data[0]).toMatchObject({
      usage_today: { requests: 2 },
      limits: { requests_per_minute: 0 },
    });
  });

  it.each([
    'from=yesterday',
    'group_by=colour',
    'from=2027-02-02&to=2027-02-01',
    'limit=1',
    'to=2027-02-31',
  ])('refuses %s', async query => {
    expect((await call('GET', `/admin/v1/usage?${query}`)).status).toBe(400);
  });
});

describe('the audit log', () => {
  it('names who did what to which key, without its secret', async () => {
    const { id, secret } = await issue();
    await call('POST', `/admin/v1/keys/${id}/rotate`, { body: { grace_s: 5 } });
    await call('DELETE', `/admin/v1/keys/${id}`);
    await call('DELETE', '/admin/v1/keys/none');
    const { body } = await call('GET', '/admin/v1/audit?limit=4');
    expect(body.data.map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
      ['DELETE /admin/v1/keys/:id', 'none', 'key_not_found'],
      ['DELETE /admin/v1/keys/:id', id, 'ok'],
      ['POST /admin/v1/keys/:id/rotate', id, 'ok'],
      ['POST /admin/v1/keys', id, 'ok'],
    ]);
    expect(body.data[3]).toMatchObject({
      actor: { tenant: 'ops', key: expect.any(String) },
      at: expect.any(Number),
    });
    expect(body.data[3]!.detail).toContain('"tenant":"acme"');
    expect(JSON.stringify(body)).not.toContain(secret.slice(20));
    const { body: next } = await call(
      'GET',
      `/admin/v1/audit?limit=1&after=${String(body.data[2]!.id)}`,
    );
    expect(next.data).toEqual([body.data[3]]);
  });

  it('names the target of every route, also with a NUL in it, which PostgreSQL would refuse', async () => {
    await call('POST', '/admin/v1/catalogue/no-such-model/cancel');
    await call('DELETE', '/admin/v1/keys/a%00b');
    const { body } = await call('GET', '/admin/v1/audit?limit=2');
    expect(body.data.map(({ target }) => target)).toEqual(['a\uFFFDb', 'no-such-model']);
  });

  it('has no entry for reading, nor for those without the right key', async () => {
    const { secret } = await issue();
    const before = (await call('GET', '/admin/v1/audit')).body.data.length;
    await call('POST', '/admin/v1/keys', { key: secret, body: {} });
    await call('POST', '/admin/v1/keys', { key: 'sk-wrong', body: {} });
    await call('GET', '/admin/v1/keys');
    expect((await call('GET', '/admin/v1/audit')).body.data).toHaveLength(before);
  });
});

it('a key of some models runs batches on its terms: lines that name another model are refused', async () => {
  const { body: key } = await call('POST', '/admin/v1/keys', {
    body: { name: 'n', tenant: 'acme', models: ['stt'] },
  });
  const file = await rig.post('/v1/files', formOf({ purpose: 'batch' }, '{}\n', 'lines.jsonl'), {
    headers: bearer(String(key.secret)),
  });
  const { id: input } = (await file.json()) as { id: string };
  const { status, body: batch } = await call('POST', '/v1/batches', {
    key: String(key.secret),
    body: {
      input_file_id: input,
      endpoint: '/v1/audio/speech',
      completion_window: '24h',
    },
  });
  expect(status).toBe(200);
  const job = await rig.app.get(JobStore, { strict: false }).find('acme', String(batch.id));
  expect(job?.terms).toEqual({ key: key.id, models: ['stt'] });
  const tokenFor = internalTokens(
    new ShortLivedTokens(rig.app.get<Buffer>(TOKEN_SECRET, { strict: false })),
  );
  const line = { model: 'tts-1', input: 'hello', voice: 'alloy' };
  const refused = await call('POST', '/v1/audio/speech', {
    key: tokenFor('acme', job?.terms),
    body: line,
  });
  expect(refused).toMatchObject({
    status: 404,
    body: { error: { code: 'model_not_found' } },
  });
});

it('admin routes count who was refused for want of a key or a scope', async () => {
  const { secret } = await issue();
  const before = await scraped('switchyard_http_errors_total', {
    area: 'admin',
    status: '403',
  });
  const others = await scraped('switchyard_http_errors_total', {
    area: 'admin',
    status: '401',
  });
  await call('GET', '/admin/v1/keys', { key: 'sk-wrong' });
  await call('GET', '/admin/v1/none', { key: 'sk-wrong' });
  await call('POST', '/admin/v1/keys', { key: secret, body: {} });
  await call('GET', '/v1/models', { key: 'sk-wrong' });
  expect(await scraped('switchyard_http_errors_total', { area: 'admin', status: '403' })).toBe(
    before + 1,
  );
  expect(await scraped('switchyard_http_errors_total', { area: 'admin', status: '401' })).toBe(
    others + 2,
  );
});

it('audio that live sessions recognise is usage of their key', async () => {
  const { id } = await issue();
  const activity = rig.app.get(SessionActivity, { strict: false });
  for (const audioSeconds of [1.5, 2])
    activity.recognised({
      model: 'stt',
      audioSeconds,
      tenant: 'acme',
      keyId: id,
    });
  const { body } = await call('GET', '/admin/v1/usage?group_by=key&tenant=acme');
  expect(body.data).toContainEqual(expect.objectContaining({ key: id, requests: 0, audio_s: 3.5 }));
});
