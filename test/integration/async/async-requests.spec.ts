import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BlobStore } from '../../../src/core/jobs/job.ports.js';
import { StoredAnswers } from '../../../src/gateway/stored-work/stored-answers.js';
import { OpenDatabase } from '../../../src/platform/database/open-database.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';

let folder: KeysFolder;
let data: string;
let worker: FixtureWorker;
let one: GatewayRig;
let other: GatewayRig;
const keys = { acme: '', other: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.acme = folder.add('acme', 'inference');
  keys.other = folder.add('other', 'inference');
  data = temporaryFolder();
  worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
  // One database and one blob store, as replicas share them.
  const settings = {
    'auth.keys_file': folder.file,
    'data.dir': data,
    'requests.lease_ms': 6000,
    'files.gc_interval_ms': 20,
  };
  one = await GatewayRig.start({ models, settings });
  other = await GatewayRig.start({ models, settings });
  await one.ready('stt');
  await other.ready('stt');
});
afterAll(async () => {
  await one.close();
  await other.close();
  worker.stop();
});

const form = (fields: Record<string, string> = {}): FormData => {
  const body = new FormData();
  body.set('model', 'stt');
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set('file', new Blob(['audio']), 'a.wav');
  return body;
};
/** Its worker keeps it until it is released or cancelled. */
const held = (): FormData => form({ prompt: script.hold });
const ask = (rig: GatewayRig, headers: Record<string, string>, body = form()): Promise<Response> =>
  rig.post('/v1/audio/transcriptions', body, {
    headers: { ...bearer(keys.acme), prefer: 'respond-async', ...headers },
  });
const look = async (rig: GatewayRig, id: string, key = keys.acme) => {
  const answer = await fetch(`${rig.url}/v1/requests/${id}`, { headers: bearer(key) });
  const view: Record<string, unknown> = {
    http: answer.status,
    ...((await answer.json()) as object),
  };
  return view;
};
const content = (rig: GatewayRig, id: string, key = keys.acme): Promise<Response> =>
  fetch(`${rig.url}/v1/requests/${id}/content`, { headers: bearer(key) });
const ended = (rig: GatewayRig, id: string) =>
  until(async () =>
    ['completed', 'failed', 'cancelled'].includes((await look(rig, id)).status as string),
  );

describe('Prefer: respond-async', () => {
  it('answers 202 with where the answer will be, which every gateway then has', async () => {
    const accepted = await ask(one, { 'x-request-id': 'hold-a1' }, held());
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('location')).toBe('/v1/requests/hold-a1');
    expect(accepted.headers.get('preference-applied')).toBe('respond-async');
    expect(await accepted.json()).toMatchObject({
      request_id: 'hold-a1',
      status: 'queued',
    });
    await until(() => worker.holding.includes('hold-a1'));
    expect(await look(one, 'hold-a1')).toMatchObject({
      status: 'running',
      state: 'running',
      model: 'stt',
    });
    expect(await look(other, 'hold-a1')).toMatchObject({
      status: 'running',
      endpoint: '/v1/audio/transcriptions',
    });
    await expectError(content(other, 'hold-a1'), {
      status: 409,
      code: 'request_not_finished',
    });
    worker.release('hold-a1');
    await ended(other, 'hold-a1');
    const view = await look(other, 'hold-a1');
    expect(view).toMatchObject({
      status: 'completed',
      status_code: 200,
      model: 'stt',
      content_url: '/v1/requests/hold-a1/content',
    });
    expect(view.result).toMatchObject({ text: expect.any(String) });
    expect(view.expires_at).toBeGreaterThan(view.completed_at as number);
    const answer = await content(other, 'hold-a1');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual(view.result);
  });

  it('keeps the type and the bytes of what is no JSON', async () => {
    await ask(one, { 'x-request-id': 'a-vtt' }, form({ response_format: 'vtt' }));
    await ended(one, 'a-vtt');
    const answer = await content(one, 'a-vtt');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await answer.text()).toMatch(/^WEBVTT/);
    expect(await look(one, 'a-vtt')).not.toHaveProperty('result');
  });

  it('refuses at once what is wrong, and keeps nothing of it', async () => {
    const refused = await errorOf(ask(one, { 'x-request-id': 'a-bad' }, form({ model: 'nobody' })));
    expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
    expect((await look(one, 'a-bad')).http).toBe(404);
  });

  it('hides it from other tenants', async () => {
    await ask(one, { 'x-request-id': 'a-mine' });
    await ended(one, 'a-mine');
    expect((await look(other, 'a-mine', keys.other)).http).toBe(404);
    expect((await content(other, 'a-mine', keys.other)).status).toBe(404);
  });

  it('is cancelled through another gateway, and tells its error', async () => {
    await ask(one, { 'x-request-id': 'hold-a2' }, held());
    await until(() => worker.holding.includes('hold-a2'));
    const cancel = await other.post(
      '/v1/requests/hold-a2/cancel',
      {},
      { headers: bearer(keys.acme) },
    );
    expect(await cancel.json()).toEqual({ request_id: 'hold-a2', cancelled: true });
    await ended(other, 'hold-a2');
    expect(await look(other, 'hold-a2')).toMatchObject({
      status: 'cancelled',
      error: { code: 'request_cancelled' },
    });
    expect((await content(one, 'hold-a2')).status).toBe(499);
    worker.release('hold-a2');
  });

  it('sent again under its id is the same request', async () => {
    await ask(one, { 'x-request-id': 'hold-a3' }, held());
    await until(() => worker.holding.includes('hold-a3'));
    const again = await ask(other, { 'x-request-id': 'hold-a3' }, held());
    expect(again.status).toBe(202);
    expect(again.headers.get('location')).toBe('/v1/requests/hold-a3');
    expect(worker.received.filter(id => id === 'hold-a3')).toHaveLength(1);
    worker.release('hold-a3');
    await ended(other, 'hold-a3');
  });

  it.each([
    ['is run to its end by another gateway when its own dies', 1, 'completed'],
    ['is given up when three gateways died over it', 3, 'failed'],
  ])('%s', async (_title, attempts, status) => {
    const id = `a-orphan-${attempts}`;
    await abandoned(id, attempts);
    await ended(other, id);
    const view = await look(other, id);
    expect(view).toMatchObject({
      status,
      ...(status === 'failed' && { error: { code: 'gateway_lost' }, attempts: 3 }),
    });
    expect(view).not.toMatchObject({ model: '' });
    expect(worker.received.filter(received => received === id)).toHaveLength(
      status === 'failed' ? 0 : 1,
    );
  });

  it('forgets it, bytes and all, once it has expired', async () => {
    await ask(one, { 'x-request-id': 'a-old' });
    await ended(one, 'a-old');
    expect((await content(one, 'a-old')).status).toBe(200);
    await expireAll();
    // Two gateways sweep every 20 ms: which of them finds it is not known.
    const keysLeft = async (): Promise<string[]> =>
      (await Array.fromAsync(blobs.keys('kept/'))).map(({ key }) => key);
    const blobs = one.app.get<BlobStore>(BlobStore, { strict: false });
    await until(async () => (await keysLeft()).length === 0);
    expect((await look(one, 'a-old')).http).toBe(200);
    expect((await content(one, 'a-old')).status).toBe(404);
  });
});

async function expireAll(): Promise<void> {
  const { db } = new OpenDatabase(join(data, 'switchyard.db'));
  await db.updateTable('kept_requests').set({ expiresAtMs: 0 }).execute();
  await db.destroy();
}

/** What a gateway leaves that is killed while it runs a request. */
async function abandoned(id: string, attempts: number): Promise<void> {
  const store = one.app.get(StoredRequestStore, { strict: false });
  const sent = new Response(form());
  const body = Buffer.from(await sent.arrayBuffer());
  const path = '/v1/audio/transcriptions';
  const headers = { 'content-type': sent.headers.get('content-type')! };
  const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 };
  const request = {
    tenant: 'acme',
    name: `id:${id}`,
    requestId: id,
    mode: 'async',
    path,
    headers,
    ...times,
  } as const;
  const dead = { owner: 'dead', leaseMs: 3_600_000 };
  const blob = `kept/${id}`;
  await one.app.get(StoredAnswers, { strict: false }).storeBody({ blob }, Readable.from([body]));
  await store.open({ ...request, fingerprint: 'f', blob, status: 'running' }, dead);
  for (let count = 1; count < attempts; count++) {
    await store.renewLeases({ ...dead, leaseMs: 0 });
    await store.takeOver(dead);
  }
  await store.renewLeases({ ...dead, leaseMs: 0 });
}
