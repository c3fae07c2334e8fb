import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { StoredLeases } from '../../../src/gateway/stored-work/stored-leases.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause } from '../../support/waiting.js';
import { errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { RawHttp } from '../api/raw-http.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';

let folder: KeysFolder;
let data: string;
const stt = new FixtureWorker({ model: 'stt' });
const tts = new FixtureWorker({ model: 'tts', kind: 'tts' });
let one: GatewayRig;
let other: GatewayRig;
const keys = { acme: '', other: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.acme = folder.add('acme', 'inference');
  keys.other = folder.add('other', 'inference');
  data = temporaryFolder();
  const models = [
    sttModel({
      addresses: [`127.0.0.1:${await stt.start()}`],
      capabilities: ['transcribe', 'prompt'],
    }),
    ttsModel({ addresses: [`127.0.0.1:${await tts.start()}`] }),
  ];
  const settings = {
    'auth.keys_file': folder.file,
    'data.dir': data,
    'requests.idempotency': 'request_id',
  };
  one = await GatewayRig.start({ models, settings });
  other = await GatewayRig.start({
    models,
    settings: { ...settings, 'requests.join_ms': 0 },
  });
  for (const rig of [one, other]) for (const model of ['stt', 'tts']) await rig.ready(model);
});
afterAll(async () => {
  await one.close();
  await other.close();
  for (const worker of [stt, tts]) worker.stop();
});

const transcribe = (
  rig: GatewayRig,
  headers: Record<string, string>,
  prompt = '',
  key = keys.acme,
): Promise<Response> =>
  rig.post('/v1/audio/transcriptions', formOf({ model: 'stt', prompt }), {
    headers: { ...bearer(key), ...headers },
  });
const BOUNDARY = 'one-boundary';
/** The bytes of a form, with a boundary that is known. */
const form = (): Response =>
  new Response(
    [
      ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="model"', '', 'stt'],
      ...[
        `--${BOUNDARY}`,
        'Content-Disposition: form-data; name="file"; filename="a.wav"',
        '',
        'audio',
      ],
      ...[`--${BOUNDARY}--`, ''],
    ].join('\r\n'),
  );
const speak = (
  rig: GatewayRig,
  headers: Record<string, string>,
  input: string,
): Promise<Response> =>
  rig.post(
    '/v1/audio/speech',
    { model: 'tts', input, voice: 'alloy' },
    { headers: { ...bearer(keys.acme), ...headers } },
  );
const times = (worker: FixtureWorker, id: string): number =>
  worker.received.filter(received => received === id).length;

describe('a retry under the same id', () => {
  it('gets the answer of the first attempt, from any gateway, and no worker works twice', async () => {
    const id = { 'x-request-id': 'same' };
    const first = await transcribe(one, id);
    const again = await transcribe(other, id);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-switchyard-model')).toBe('stt');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(times(stt, 'same')).toBe(1);
  });

  it('gets the same bytes of speech, type and name included', async () => {
    const key = { 'idempotency-key': 'speech one' };
    const first = await speak(one, key, script.chunks(5));
    const bytes = await first.arrayBuffer();
    const again = await speak(other, key, script.chunks(5));
    const same = await again.arrayBuffer();
    expect(bytes.byteLength).toBeGreaterThan(300_000);
    expect(Buffer.from(same).equals(Buffer.from(bytes))).toBe(true);
    for (const name of ['content-type', 'content-disposition'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
  });

  it('joins the first attempt while that still runs', async () => {
    const id = { 'x-request-id': 'joined' };
    const first = transcribe(one, id, script.hold);
    await until(() => stt.holding.includes('joined'));
    const second = transcribe(one, id, script.hold);
    await expectError(transcribe(other, id, script.hold), {
      status: 409,
      code: 'duplicate_request_id',
    });
    stt.release('joined');
    const [answer, joined] = [await first, await second];
    expect(await joined.json()).toEqual(await answer.json());
    expect(joined.headers.get('idempotent-replayed')).toBe('true');
    expect(times(stt, 'joined')).toBe(1);
  });

  it('is told to come back when it may not wait: 409 that SDKs try again', async () => {
    const id = { 'x-request-id': 'busy' };
    const first = transcribe(one, id, script.hold);
    await until(() => stt.holding.includes('busy'));
    const error = await errorOf(transcribe(other, id, script.hold));
    expect(error).toMatchObject({ status: 409, code: 'duplicate_request_id' });
    expect(error.headers.get('x-should-retry')).toBe('true');
    stt.release('busy');
    await first;
  });

  it('runs anew when the first attempt failed', async () => {
    const id = { 'x-request-id': 'failed' };
    expect((await transcribe(one, id, script.fail('engine_failed'))).status).toBe(500);
    expect((await transcribe(other, id)).status).toBe(200);
    expect(times(stt, 'failed')).toBe(2);
  });

  it('runs anew, however many retries wait, when the first attempt failed and its row could not be removed', async () => {
    const id = { 'x-request-id': 'unremoved' };
    const table = one.app.get(StoredRequestStore, {
      strict: false,
    });
    const drop = jest.spyOn(table, 'drop').mockRejectedValueOnce(new Error('the disk is full'));
    expect((await transcribe(one, id, script.fail('engine_failed'))).status).toBe(500);
    expect(drop).toHaveBeenCalledTimes(1);
    drop.mockRestore();
    const looks = jest.spyOn(table, 'find');
    const retries = [1, 2].map(
      async () => (await transcribe(one, id, script.fail('engine_failed'))).status,
    );
    const answered = Promise.all(retries);
    let statuses: readonly number[] = [];
    void answered.then(all => (statuses = all));
    await until(() => looks.mock.calls.length >= 4);
    const leases = one.app.get(StoredLeases, { strict: false });
    await until(async () => {
      await leases.renew();
      return statuses.length > 0;
    });
    expect(statuses).toEqual([500, 500]);
    expect(times(stt, 'unremoved')).toBe(3);
  });

  it('runs anew when the first caller hung up', async () => {
    const leaving = new AbortController();
    const form = formOf({ model: 'stt', prompt: script.hold });
    const headers = { ...bearer(keys.acme), 'x-request-id': 'left' };
    const first = one.post('/v1/audio/transcriptions', form, {
      headers,
      signal: leaving.signal,
    });
    await until(() => stt.holding.includes('left'));
    leaving.abort();
    await expect(first).rejects.toThrow();
    await until(() => stt.cancelled.includes('left'));
    await until(async () => (await transcribe(other, { 'x-request-id': 'left' })).status === 200);
    expect(times(stt, 'left')).toBe(2);
  });

  it('runs anew when the first caller left before its body was read, although all of it had come', async () => {
    const store = one.app.get(StoredRequestStore);
    const open = store.open.bind(store);
    const raw = await RawHttp.open(one.port);
    const opening = jest.spyOn(store, 'open').mockImplementationOnce(async (request, lease) => {
      raw.socket.destroy();
      await pause(100);
      return open(request, lease);
    });
    const body = await form().text();
    const head = ['POST /v1/audio/transcriptions HTTP/1.1', 'Host: x', 'X-Request-ID: left-early'];
    const credentials = `Authorization: ${bearer(keys.acme).authorization}`;
    const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`;
    raw.send(...head, credentials, type, `Content-Length: ${body.length}`, '', body);
    await until(() => opening.mock.calls.length > 0);
    opening.mockRestore();
    await pause(150);
    await until(
      async () => (await transcribe(other, { 'x-request-id': 'left-early' })).status === 200,
    );
    expect(times(stt, 'left-early')).toBe(1);
  });

  it('is refused with 422 when it asks for something else', async () => {
    const key = { 'idempotency-key': 'k1' };
    await (await speak(one, key, script.chunks(1))).arrayBuffer();
    await expectError(speak(other, key, script.chunks(2)), {
      status: 422,
      code: 'idempotency_key_reused',
      param: 'Idempotency-Key',
    });
    const later = { ...key, prefer: 'respond-async' };
    await expectError(speak(other, later, script.chunks(1)), {
      status: 422,
    });
  });

  it('of another tenant meets nothing', async () => {
    const mine = await transcribe(one, {
      'idempotency-key': 'shared',
      'x-request-id': 't-acme',
    });
    const theirs = await transcribe(
      other,
      { 'idempotency-key': 'shared', 'x-request-id': 't-other' },
      '',
      keys.other,
    );
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(theirs.headers.get('idempotent-replayed')).toBeNull();
    expect(times(stt, 't-other')).toBe(1);
  });

  it('with a key nobody can spell is refused', async () => {
    const key = { 'idempotency-key': 'x'.repeat(256) };
    await expectError(transcribe(one, key), {
      status: 400,
      param: 'Idempotency-Key',
    });
  });
});

describe('another form under the same key', () => {
  it('of the same length is 422, and the same one again is answered as before', async () => {
    const key = { 'idempotency-key': 'equal length' };
    const first = await transcribe(one, key, 'say:one');
    expect(first.status).toBe(200);
    await expectError(transcribe(other, key, 'say:two'), {
      status: 422,
      code: 'idempotency_key_reused',
    });
    const again = await transcribe(other, key, 'say:one');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toEqual(await first.json());
  });
});

describe('a retry whose first upload still arrives', () => {
  /** The first half of a form, sent with `Prefer: respond-async`. */
  const half = async (key: string): Promise<RawHttp> => {
    const { byteLength } = await form().arrayBuffer();
    const store = one.app.get(StoredRequestStore, {
      strict: false,
    });
    const raw = await RawHttp.open(one.port);
    raw.send(
      'POST /v1/audio/transcriptions HTTP/1.1',
      'Host: x',
      `Authorization: ${bearer(keys.acme).authorization}`,
      '',
    );
    raw.send(
      `Idempotency-Key: ${key}`,
      'Prefer: respond-async',
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
      '',
    );
    raw.send(`Content-Length: ${byteLength}`, '', `--${BOUNDARY}`);
    await until(
      async () => (await store.find({ tenant: 'acme', name: `key:${key}` })) !== undefined,
    );
    return raw;
  };
  const whole = async (rig: GatewayRig, key: string): Promise<Response> =>
    fetch(`${rig.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: await form().arrayBuffer(),
      headers: {
        ...{ ...bearer(keys.acme), 'idempotency-key': key, prefer: 'respond-async' },
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
    });

  it('is 409 and may be tried again where it may not wait: never 202 before the body is stored', async () => {
    const raw = await half('arriving');
    const error = await errorOf(whole(other, 'arriving'));
    expect(error).toMatchObject({ status: 409, code: 'duplicate_request_id' });
    expect(error.headers.get('x-should-retry')).toBe('true');
    raw.socket.destroy();
  });

  it('waits, and takes its place when it breaks off: 202, and an answer', async () => {
    const raw = await half('broken');
    const retry = whole(one, 'broken');
    raw.socket.destroy();
    const accepted = await retry;
    expect(accepted.status).toBe(202);
    const { location } = (await accepted.json()) as { location: string };
    const content = () => fetch(`${one.url}${location}/content`, { headers: bearer(keys.acme) });
    await until(async () => (await content()).status === 200);
  });
});
