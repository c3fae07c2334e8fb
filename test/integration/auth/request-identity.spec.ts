import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SharedQueueLink } from '../../../src/gateway/shared-queue/shared-queue-link.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { RedisServer } from '../../support/redis-server.js';
import { itWith, REDIS } from '../../support/requires.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { RawHttp } from '../api/raw-http.js';
import { bearer, KeysFolder } from './keys-folder.js';

const TENANTS = ['acme', 'other'] as const;
type Tenant = (typeof TENANTS)[number];

let folder: KeysFolder;
const keys = { acme: '', other: '', admin: '' };

beforeAll(() => {
  folder = new KeysFolder();
  for (const tenant of TENANTS) keys[tenant] = folder.add(tenant, 'inference');
  keys.admin = folder.add('ops', 'admin');
});

const form = (prompt = ''): FormData => {
  const body = new FormData();
  body.set('model', 'stt');
  if (prompt) body.set('prompt', prompt);
  body.set('file', new Blob(['audio']), 'a.wav');
  return body;
};

/** The requests of one tenant at one gateway. */
class Caller {
  constructor(
    readonly rig: GatewayRig,
    readonly tenant: Tenant | 'admin',
  ) {}

  send(id: string, prompt = '', signal?: AbortSignal): Promise<Response> {
    const headers = { ...bearer(keys[this.tenant]), 'x-request-id': id };
    return this.rig.post('/v1/audio/transcriptions', form(prompt), {
      headers,
      ...(signal && { signal }),
    });
  }

  async get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(this.rig.url + path, {
      headers: bearer(keys[this.tenant]),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown>,
    };
  }

  async state(id: string): Promise<unknown> {
    const { status, body } = await this.get(`/v1/requests/${id}`);
    if (status === 200) expect(body).toMatchObject({ request_id: id, tenant: this.tenant });
    return status === 200 ? body.state : status;
  }

  async cancel(id: string, path = `/v1/requests/${id}/cancel`): Promise<boolean> {
    const answer = await fetch(this.rig.url + path, {
      method: 'POST',
      headers: bearer(keys[this.tenant]),
    });
    return ((await answer.json()) as { cancelled: boolean }).cancelled;
  }

  /** Half a form under that id and a key of its own, and then the connection breaks. */
  async leaveHalfAForm(id: string, key: string): Promise<void> {
    const store = this.rig.app.get(StoredRequestStore, {
      strict: false,
    });
    const row = () => store.find({ tenant: this.tenant, name: `key:${key}` });
    const raw = await RawHttp.open(this.rig.port);
    const { authorization } = bearer(keys[this.tenant]);
    raw.send(
      'POST /v1/audio/transcriptions HTTP/1.1',
      'Host: x',
      `Authorization: ${authorization}`,
      `X-Request-Id: ${id}`,
    );
    raw.send(
      '',
      `Idempotency-Key: ${key}`,
      'Content-Type: multipart/form-data; boundary=b',
      'Content-Length: 5000',
      '',
      '',
    );
    raw.send('--b', 'Content-Disposition: form-data; name="model"', '', 'st');
    await until(async () => (await row()) !== undefined);
    raw.socket.destroy();
    await until(async () => (await row()) === undefined);
  }
}

describe("another tenant's request of the same id", () => {
  const worker = new FixtureWorker({ model: 'stt' });
  let rig: GatewayRig;
  let acme: Caller;
  let other: Caller;

  beforeAll(async () => {
    const models = [
      sttModel({
        addresses: [`127.0.0.1:${await worker.start()}`],
        capabilities: ['transcribe', 'prompt'],
      }),
    ];
    rig = await GatewayRig.start({
      models,
      settings: { 'auth.keys_file': folder.file },
    });
    await rig.ready('stt');
    [acme, other] = [new Caller(rig, 'acme'), new Caller(rig, 'other')];
  });
  afterEach(() => worker.releaseAll());
  afterAll(async () => {
    await rig.close();
    worker.stop();
  });

  /** Sent, and held by the worker. */
  const held = async (caller: Caller, id: string): Promise<Promise<Response>[]> => {
    const before = worker.holding.length;
    const answer = caller.send(id, script.hold);
    await until(() => worker.holding.length === before + 1);
    return [answer];
  };

  it('goes on when somebody else hangs up amid a form of that id: 200, not 499', async () => {
    const [answer] = await held(acme, 'half');
    await other.leaveHalfAForm('half', 'any');
    expect(await acme.state('half')).toBe('running');
    worker.release('half~acme');
    expect((await answer)?.status).toBe(200);
  });

  it('goes on when its own tenant hangs up amid a form of that id under another key', async () => {
    const [answer] = await held(acme, 'own');
    await acme.leaveHalfAForm('own', 'some other');
    worker.release('own~acme');
    expect((await answer)?.status).toBe(200);
  });

  it('runs beside it at the same worker; a cancel ends the own one only, on the worker as well', async () => {
    const [first] = await held(acme, 'same');
    const [second] = await held(other, 'same');
    expect((await other.send('same')).status).toBe(409);
    expect(await other.cancel('same')).toBe(true);
    expect((await second)?.status).toBe(499);
    await until(() => worker.holding.length === 1);
    expect(await acme.state('same')).toBe('running');
    worker.release('same~acme');
    expect((await first)?.status).toBe(200);
    expect([await acme.state('same'), await other.state('same')]).toEqual([
      'completed',
      'cancelled',
    ]);
  });

  it('looks like an unknown one, and is not hidden by a later one of that id', async () => {
    expect((await acme.send('seen')).status).toBe(200);
    expect(await other.get('/v1/requests/seen')).toEqual({
      status: 404,
      body: JSON.parse(
        JSON.stringify((await other.get('/v1/requests/none')).body).replaceAll('none', 'seen'),
      ) as object,
    });
    expect((await other.send('seen', script.fail('engine_failed'))).status).toBe(500);
    expect([await acme.state('seen'), await other.state('seen')]).toEqual(['completed', 'failed']);
    for (const id of ['seen~acme', 'seen%7Eacme'])
      expect((await other.get(`/v1/requests/${id}`)).status).toBe(404);
  });

  it('is named with its tenant by an operator: 400 while two have that id, then that one and no other', async () => {
    const [first] = await held(acme, 'two');
    const [second] = await held(other, 'two');
    const admin = new Caller(rig, 'admin');
    expect(await admin.get('/admin/v1/requests/two')).toMatchObject({
      status: 400,
      body: { error: { code: 'missing_required_parameter', param: 'tenant' } },
    });
    expect((await admin.get('/admin/v1/requests/two?tenant=other')).body).toMatchObject({
      tenant: 'other',
    });
    expect(await admin.cancel('two', '/admin/v1/requests/two/cancel?tenant=other')).toBe(true);
    expect((await second)?.status).toBe(499);
    expect(await admin.cancel('two', '/admin/v1/requests/two/cancel')).toBe(true);
    expect((await first)?.status).toBe(499);
  });
});

const steps = fc.array(
  fc.record({
    tenant: fc.constantFrom(...TENANTS),
    id: fc.constantFrom('x', 'y'),
    act: fc.constantFrom('send', 'send', 'cancel', 'leave', 'half'),
  }),
  { minLength: 15, maxLength: 15 },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** What each tenant knows of its own requests: everything it may ever be told. */
class Interleaving {
  readonly #live = new Map<string, { answer: Promise<number>; leave: AbortController }>();
  #halves = 0;

  constructor(private readonly callers: Readonly<Record<Tenant, Caller>>) {}

  async take({ tenant, id, act }: Step): Promise<void> {
    const caller = this.callers[tenant];
    const live = this.#live.get(`${tenant} ${id}`);
    if (act === 'half') await caller.leaveHalfAForm(id, `half ${this.#halves++}`);
    if (act === 'send' && live) expect((await caller.send(id)).status).toBe(409);
    if (act === 'send' && !live) await this.#send(caller, id);
    if (act === 'cancel') expect(await caller.cancel(id)).toBe(live !== undefined);
    if (act === 'cancel' && live) expect(await live.answer).toBe(499);
    if (act === 'leave') live?.leave.abort();
    if (act === 'cancel' || act === 'leave') this.#live.delete(`${tenant} ${id}`);
    if (act === 'leave' && live) await until(async () => (await caller.state(id)) !== 'queued');
  }

  async check(): Promise<void> {
    for (const tenant of TENANTS)
      for (const id of ['x', 'y']) {
        const isLive = this.#live.has(`${tenant} ${id}`);
        const state = await this.callers[tenant].state(id);
        if (isLive) expect(state).toBe('queued');
        else expect([404, 'cancelled']).toContain(state);
      }
  }

  async end(): Promise<void> {
    for (const name of this.#live.keys()) {
      const [tenant, id] = name.split(' ') as [Tenant, string];
      expect(await this.callers[tenant].cancel(id)).toBe(true);
    }
    for (const { answer } of this.#live.values()) expect(await answer).toBe(499);
  }

  async #send(caller: Caller, id: string): Promise<void> {
    const leave = new AbortController();
    const answer = caller.send(id, '', leave.signal).then(
      ({ status }) => status,
      () => 0,
    );
    this.#live.set(`${caller.tenant} ${id}`, { answer, leave });
    await until(async () => (await caller.state(id)) === 'queued');
  }
}

describe.each(['embedded', 'redis'])('two tenants with the same ids, queue.driver %s', driver => {
  itWith(...(driver === 'redis' ? [REDIS] : []))(
    'never see nor touch each other, however they send, cancel, hang up and ask',
    async () => {
      await using redis = driver === 'redis' ? await RedisServer.start() : undefined;
      const shared = redis ? { 'queue.driver': 'redis', 'redis.url': redis.url } : {};
      // No worker: what is sent waits.
      const rig = await GatewayRig.start({
        models: [sttModel()],
        settings: { 'auth.keys_file': folder.file, ...shared },
      });
      try {
        const link = rig.app.get(SharedQueueLink, { strict: false });
        await until(() => link.usable === link.enabled);
        const callers = {
          acme: new Caller(rig, 'acme'),
          other: new Caller(rig, 'other'),
        };
        await fc.assert(
          fc.asyncProperty(steps, async taken => {
            const interleaving = new Interleaving(callers);
            for (const step of taken) {
              await interleaving.take(step);
              await interleaving.check();
            }
            await interleaving.end();
          }),
          { numRuns: 2, endOnFailure: true },
        );
      } finally {
        await rig.close();
      }
    },
    90_000,
  );
});
