import { truncate, writeFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { StoredAnswers } from '../../../src/gateway/stored-work/stored-answers.js';
import { StoredLeases } from '../../../src/gateway/stored-work/stored-leases.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { newStoredBlob } from '../../../src/platform/storage/blob-keys.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { S3Server } from '../../support/s3-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

const PATH = '/v1/audio/transcriptions';
const worker = new FixtureWorker({ model: 'stt' });
let addresses: readonly string[];
let rig: GatewayRig;
let store: StoredRequestStore;
let answers: StoredAnswers;
let leases: StoredLeases;

beforeAll(async () => void (addresses = [`127.0.0.1:${await worker.start()}`]));
afterAll(() => worker.stop());

async function started(settings: Parameters<typeof GatewayRig.start>[0]['settings']) {
  const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
  // Leases are renewed when a test says so.
  rig = await GatewayRig.start({
    models,
    settings: { ...settings, 'requests.lease_ms': 3_600_000 },
  });
  store = rig.app.get(StoredRequestStore, { strict: false });
  answers = rig.app.get(StoredAnswers, { strict: false });
  leases = rig.app.get(StoredLeases, { strict: false });
  await rig.ready('stt');
}

const form = (prompt = ''): FormData => formOf({ model: 'stt', prompt });
const later = (id: string, prompt = ''): Promise<Response> =>
  rig.post(PATH, form(prompt), { headers: { prefer: 'respond-async', 'x-request-id': id } });
const stored = async (id: string) => (await store.find({ tenant: 'default', name: `id:${id}` }))!;
const content = (id: string): Promise<Response> => fetch(`${rig.url}/v1/requests/${id}/content`);
const ended = (id: string) => until(async () => (await stored(id)).answer !== undefined);

/** What a gateway leaves that is killed while it runs a request. */
async function abandoned(id: string): Promise<string> {
  const sent = new Response(form());
  const headers = { 'content-type': sent.headers.get('content-type')! };
  const blob = newStoredBlob();
  const body = await answers.storeBody(
    { blob },
    Readable.from([Buffer.from(await sent.arrayBuffer())]),
  );
  const request = {
    ...{ tenant: 'default', name: `id:${id}`, requestId: id, path: PATH, fingerprint: '', headers },
    ...{ blob, createdAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 },
  };
  const dead = { owner: 'dead', leaseMs: 0 };
  const { request: row } = await store.open(
    { ...request, mode: 'async', status: 'receiving' },
    dead,
  );
  await store.markReceived(row, { fingerprint: '', body });
  return blob;
}

describe('with the blob store away', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await S3Server.start();
    const { bucket, endpoint, credentials } = s3.options;
    process.env.AWS_ACCESS_KEY_ID = credentials!.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = credentials!.secretAccessKey;
    await started({
      ...{ 'blobs.driver': 's3', 'blobs.s3_bucket': bucket, 'blobs.s3_endpoint': endpoint! },
      'blobs.s3_path_style': true,
    });
  }, 60_000);
  afterEach(() => void jest.restoreAllMocks());
  afterAll(async () => {
    await rig.close();
    await s3[Symbol.asyncDispose]();
  });

  it('a request that cannot be queued is 503, and never 202: its row is gone', async () => {
    const receive = store.markReceived.bind(store);
    jest.spyOn(store, 'markReceived').mockImplementationOnce(async (...call) => {
      await s3.kill();
      return receive(...call);
    });
    const error = await errorOf(later('never-queued'));
    expect(error).toMatchObject({ status: 503, code: 'storage_unavailable' });
    expect(error.headers.get('retry-after')).not.toBeNull();
    expect(await stored('never-queued')).toBeUndefined();
    await s3.launch();
  }, 60_000);

  it('an accepted one waits, however long: no attempt or loss is counted, and it completes', async () => {
    await abandoned('waited');
    await s3.kill();
    const opening = jest.spyOn(answers, 'openBody');
    await leases.renew();
    await until(() => opening.mock.calls.length > 0);
    await Promise.allSettled([opening.mock.results[0]!.value]);
    for (let renewals = 0; renewals < 5; renewals++) await leases.renew();
    expect(await stored('waited')).toMatchObject({ status: 'running', attempts: 2, losses: 1 });
    await s3.launch();
    await ended('waited');
    expect(await stored('waited')).toMatchObject({ status: 'completed', attempts: 2, losses: 1 });
  }, 60_000);

  it('bytes that cannot be removed change no outcome', async () => {
    const end = store.end.bind(store);
    jest.spyOn(store, 'end').mockImplementationOnce(async (...call) => {
      const outcome = await end(...call);
      await s3.kill();
      return outcome;
    });
    const before = worker.received.length;
    expect((await later('unremoved')).status).toBe(202);
    await ended('unremoved');
    await leases.renew();
    await s3.launch();
    expect((await content('unremoved')).status).toBe(200);
    expect(worker.received.length - before).toBe(1);
  }, 60_000);

  it('an answer of a waiting caller that cannot be stored is 503, not 500', async () => {
    const headers = { 'idempotency-key': 'unstored' };
    const answer = errorOf(rig.post(PATH, form(script.hold), { headers }));
    await until(() => worker.holding.length > 0);
    await s3.kill();
    worker.releaseAll();
    expect(await answer).toMatchObject({ status: 503, code: 'storage_unavailable' });
    await s3.launch();
  }, 60_000);

  it('a stream that cannot be stored is whole for its caller, and a retry runs again', async () => {
    const headers = { 'idempotency-key': 'unstored-stream' };
    const asked = form(script.hold);
    asked.set('stream', 'true');
    const answer = rig.post(PATH, asked, { headers });
    await until(() => worker.holding.length > 0);
    await s3.kill();
    worker.releaseAll();
    expect(await (await answer).text()).toContain('transcript.text.done');
    await s3.launch();
    const before = worker.received.length;
    const again = form();
    again.set('stream', 'true');
    expect((await rig.post(PATH, again, { headers })).status).toBe(200);
    expect(worker.received.length - before).toBe(1);
  }, 60_000);
});

describe('bytes that a power cut took', () => {
  let data: string;
  beforeAll(async () => {
    data = temporaryFolder();
    await started({ 'data.dir': data });
  });
  afterAll(async () => {
    await rig.close();
    await rm(data, { recursive: true });
  });
  const file = (key: string): string => join(data, 'blobs', key);

  it.each([
    ['emptied', (path: string) => truncate(path)],
    ['shorter', (path: string) => truncate(path, 100)],
    [
      'other bytes of the same length',
      async (path: string) => {
        const bytes = await readFile(path);
        await writeFile(path, bytes.fill(0, bytes.length - 100));
      },
    ],
    ['removed', (path: string) => rm(path)],
  ])(
    'of a body, %s: no outcome, never 400; it is read again',
    async (how, damage) => {
      const id = `body-${how.replaceAll(' ', '-')}`;
      const path = file(`${await abandoned(id)}/body`);
      const whole = await readFile(path);
      await damage(path);
      const running = jest.spyOn(answers, 'openBody');
      await leases.renew();
      await until(() => running.mock.calls.length > 1);
      expect(await stored(id)).toMatchObject({ status: 'running', losses: 1 });
      await writeFile(path, whole);
      await ended(id);
      expect(await stored(id)).toMatchObject({ status: 'completed', answer: { status: 200 } });
      running.mockRestore();
    },
    60_000,
  );

  it('of an answer: 404 of an async one and a new run of a keyed one, never 200 and empty', async () => {
    await later('answered');
    await ended('answered');
    await truncate(file(`${(await stored('answered')).blob}/answer`));
    await expectError(content('answered'), { status: 404 });
    const key = { 'idempotency-key': 'answered' };
    const first = await rig.post(PATH, form(), { headers: key });
    const row = await store.find({ tenant: 'default', name: 'key:answered' });
    await truncate(file(`${row!.blob}/answer`));
    const again = await rig.post(PATH, form(), { headers: key });
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    expect(await again.json()).toEqual(await first.json());
  });

  it('of an answer, same length: its reader sees that it broke', async () => {
    await later('broken');
    await ended('broken');
    const path = file(`${(await stored('broken')).blob}/answer`);
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(32, 5, 9));
    await expect(content('broken').then(answer => answer.text())).rejects.toThrow();
  });
});
