import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { filter, firstValueFrom } from 'rxjs';
import { type LiveQueueLine } from '../../../src/contracts/events/live-event.js';
import { DomainError } from '../../../src/core/errors/domain-error.js';
import { StoredAnswers } from '../../../src/gateway/stored-work/stored-answers.js';
import { StoredLeases } from '../../../src/gateway/stored-work/stored-leases.js';
import { OpenDatabase } from '../../../src/platform/database/open-database.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { DispatchEventBus } from '../../../src/platform/events/events.module.js';
import { storageUnavailable } from '../../../src/platform/http/passing-errors.js';
import { newStoredBlob } from '../../../src/platform/storage/blob-keys.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { heldEnd } from '../../support/held-end.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from '../live-feed/feed-client.js';

const TENANT = 'default';
/** Another gateway, which holds what it took for as long as a test needs. */
const STRANGER = { owner: 'stranger', leaseMs: 3_600_000 };
const PATH = '/v1/audio/transcriptions';

const worker = new FixtureWorker({ model: 'stt' });
let addresses: readonly string[];
let rig: GatewayRig;
let store: StoredRequestStore;
let leases: StoredLeases;
let answers: StoredAnswers;

beforeAll(async () => {
  addresses = [`127.0.0.1:${await worker.start()}`];
  const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
  // Leases are renewed when a test says so.
  rig = await GatewayRig.start({ models, settings: { 'requests.lease_ms': 3_600_000 } });
  store = rig.app.get(StoredRequestStore, { strict: false });
  leases = rig.app.get(StoredLeases, { strict: false });
  answers = rig.app.get(StoredAnswers, { strict: false });
  await rig.ready('stt');
});
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  worker.releaseAll();
  await rig.close();
  worker.stop();
});

const form = (prompt = ''): FormData => formOf({ model: 'stt', prompt });
const send = (headers: Record<string, string>, prompt = ''): Promise<Response> =>
  rig.post(PATH, form(prompt), { headers });
const later = (id: string, prompt = ''): Promise<Response> =>
  send({ prefer: 'respond-async', 'x-request-id': id }, prompt);
const stored = async (id: string) => (await store.find({ tenant: TENANT, name: `id:${id}` }))!;
const view = (id: string) => rig.json(`/v1/requests/${id}`) as Promise<Record<string, unknown>>;
const content = (id: string): Promise<Response> => fetch(`${rig.url}/v1/requests/${id}/content`);
const ended = (id: string) => until(async () => (await stored(id)).answer !== undefined);
const times = (id: string): number => worker.received.filter(received => received === id).length;

/** As a gateway does that finds its lease lapsed. */
async function takenOver(id: string) {
  await store.release(leases.owner, await stored(id));
  return (await store.takeOver(STRANGER))!;
}

describe('an async request that another gateway has taken over', () => {
  it('is stopped by the gateway that lost it, and neither failed nor cancelled', async () => {
    await later('hold-lost', script.hold);
    await until(() => worker.holding.includes('hold-lost'));
    const taken = await takenOver('hold-lost');
    await leases.renew();
    await until(() => worker.cancelled.includes('hold-lost'));
    await until(
      async () =>
        !(await rig.json('/admin/v1/requests').then(JSON.stringify)).includes('hold-lost'),
    );
    expect(await stored('hold-lost')).toMatchObject({ status: 'running', attempts: 2 });
    await store.drop(taken);
  });

  it('takes the answer of whichever attempt completes first, head and bytes of one', async () => {
    await later('hold-first', script.hold);
    await until(() => worker.holding.includes('hold-first'));
    const taken = await takenOver('hold-first');
    await answers.store(
      taken,
      { status: 200, headers: {} },
      Readable.from([Buffer.from('of the second attempt')]),
    );
    worker.release('hold-first');
    await ended('hold-first');
    expect(await stored('hold-first')).toMatchObject({
      status: 'completed',
      attempts: 1,
    });
    const ending = { answer: { status: 409, headers: {} }, keepMs: 1000 };
    expect(await store.end(taken, { ...ending, status: 'failed' })).toBe('lost');
    const answer = await content('hold-first');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ text: expect.any(String) });
  });

  it('waits while its id is in use here: 409 is no outcome of an accepted request', async () => {
    const interactive = send({ 'x-request-id': 'hold-in-use' }, script.hold);
    await until(() => worker.holding.includes('hold-in-use'));
    await abandoned('hold-in-use');
    const { events$ } = rig.app.get(DispatchEventBus, { strict: false });
    const refused = firstValueFrom(events$.pipe(filter(({ type }) => type === 'rejected')));
    await leases.renew();
    expect(await refused).toMatchObject({
      requestId: 'hold-in-use',
      code: 'duplicate_request_id',
    });
    worker.release('hold-in-use');
    expect((await interactive).status).toBe(200);
    await ended('hold-in-use');
    expect(await stored('hold-in-use')).toMatchObject({
      status: 'completed',
      answer: { status: 200 },
    });
  });
});

describe('a cancel of an async request', () => {
  it('is told as true only of work that does not complete, 100 at random moments', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `cancelled-${index}`);
    const told = new Map<string, boolean>();
    await Promise.all(
      ids.map(async (id, index) => {
        await later(id);
        for (let turn = 0; turn < index % 20; turn++) await new Promise(setImmediate);
        const answer = await rig.post(`/v1/requests/${id}/cancel`, {});
        told.set(id, ((await answer.json()) as { cancelled: boolean }).cancelled);
      }),
    );
    for (const id of ids) await ended(id);
    const statuses = await Promise.all(
      ids.map(async id => `${told.get(id)}: ${(await stored(id)).status}`),
    );
    expect(
      [...new Set(statuses)].filter(one => !['true: cancelled', 'false: completed'].includes(one)),
    ).toEqual([]);
    for (const id of ids) {
      const { status, state, explanation } = await view(id);
      expect({ id, state, explanation }).toEqual({
        ...{ id, state: status, explanation: `It is ${status as string}; its answer is stored.` },
      });
    }
  });

  it('that comes while the end is being written, wins', async () => {
    const end = heldEnd(store);
    await later('at-the-end');
    await end.reached();
    expect(await view('at-the-end')).toMatchObject({ state: 'running', status: 'running' });
    const answer = await rig.post('/v1/requests/at-the-end/cancel', {});
    expect(await answer.json()).toEqual({ request_id: 'at-the-end', cancelled: true });
    end.written();
    await ended('at-the-end');
    expect(await stored('at-the-end')).toMatchObject({ status: 'cancelled' });
    await expectError(content('at-the-end'), {
      status: 499,
      code: 'request_cancelled',
    });
    const outcome = { state: 'cancelled', code: 'request_cancelled' };
    expect(await view('at-the-end')).toMatchObject({ ...outcome, status: 'cancelled' });
    expect(await rig.json('/admin/v1/requests/at-the-end')).toMatchObject(outcome);
  });

  it('that wins when its answer was computed is counted, shown and logged as cancelled', async () => {
    const total = (status: string) =>
      rig.metric(`scheduler_requests_total{status="${status}",priority="batch",model="stt"}`);
    const totals = async () => [await total('completed'), await total('cancelled')];
    const lines = jest.spyOn(Logger.prototype, 'log');
    using feed = await FeedClient.connect(rig.url);
    await feed.join('queue');
    const line = () => feed.state('queue').stt as LiveQueueLine;
    const withdrawn = async (id: string, meanwhile: () => Promise<unknown>) => {
      const end = heldEnd(store);
      await feed.join(`request:${id}`);
      await later(id);
      await end.reached();
      await until(() => feed.request(id)?.state === 'completed');
      await meanwhile();
      await rig.post(`/v1/requests/${id}/cancel`, {});
      end.written();
      await ended(id);
      await until(() => feed.request(id)?.state === 'cancelled');
      const logged = expect.objectContaining({ requestId: id, status: 'cancelled' });
      expect(lines).toHaveBeenCalledWith(logged, expect.stringContaining('request cancelled'));
    };
    const [completed = NaN, cancelled = NaN] = await totals();
    const { completed: shown, cancelled: left } = line();
    await withdrawn('withdrawn', () => Promise.resolve());
    expect(await totals()).toEqual([completed, cancelled + 1]);
    await until(() => line().cancelled === left + 1 && line().completed === shown);
    // A scrape has seen it as completed: a counter never falls, so the next is not counted.
    await withdrawn('scraped', totals);
    expect(await totals()).toEqual([completed + 1, cancelled + 2]);
    await later('next');
    await ended('next');
    expect(await totals()).toEqual([completed + 1, cancelled + 2]);
  });

  it('is not told as true while the database, which decides, does not answer', async () => {
    await later('undecided', script.hold);
    await until(() => worker.holding.includes('undecided'));
    const asked = jest.spyOn(store, 'findById').mockRejectedValue(storageUnavailable('Away.'));
    const told = await errorOf(rig.post('/v1/requests/undecided/cancel', {}));
    expect(told).toMatchObject({ status: 503, code: 'storage_unavailable' });
    const plain = errorOf(send({ 'x-request-id': 'plain' }, script.hold));
    await until(() => worker.holding.includes('plain'));
    const answer = await rig.post('/v1/requests/plain/cancel', {});
    expect(await answer.json()).toEqual({ request_id: 'plain', cancelled: true });
    expect(await plain).toMatchObject({ status: 499 });
    asked.mockRestore();
  });
});

describe('an end whose outcome is unknown', () => {
  it.each(['written', 'not written', 'refused by a full database'])(
    'and was %s is read back: the answer is delivered, now and to a retry',
    async how => {
      const id = `unknown-${how.length}`;
      const end = store.end.bind(store);
      jest.spyOn(store, 'end').mockImplementationOnce(async (...call) => {
        if (how === 'written') await end(...call);
        throw how.includes('full')
          ? new DomainError('storage_full', 'The disk of the database is full.')
          : storageUnavailable('The connection broke.');
      });
      const first = await send({ 'idempotency-key': id, 'x-request-id': id });
      expect(first.status).toBe(200);
      const again = await send({ 'idempotency-key': id });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await again.json()).toEqual(await first.json());
      expect(times(id)).toBe(1);
    },
  );

  it('holds the last bytes back until a retry finds the answer', async () => {
    const end = heldEnd(store);
    let isAnswered = false;
    const first = send({ 'idempotency-key': 'held back' }).finally(() => (isAnswered = true));
    await end.reached();
    expect(isAnswered).toBe(false);
    expect((await store.find({ tenant: TENANT, name: 'key:held back' }))?.status).toBe('running');
    end.written();
    expect((await first).status).toBe(200);
    expect((await store.find({ tenant: TENANT, name: 'key:held back' }))?.status).toBe('completed');
  });

  it('of an attempt that was replaced gives its caller 409 to try again, never a second answer', async () => {
    const first = send({ 'idempotency-key': 'replaced' }, script.hold);
    await until(() => worker.holding.length > 0);
    const name = 'key:replaced';
    const { lapsed: _, ...earlier } = (await store.find({ tenant: TENANT, name }))!;
    await store.release(leases.owner, earlier);
    await store.open({ ...earlier, status: 'running', blob: 'kept/replaced' }, STRANGER);
    worker.releaseAll();
    const error = await errorOf(first);
    expect(error).toMatchObject({ status: 409, code: 'duplicate_request_id' });
    expect(error.headers.get('x-should-retry')).toBe('true');
    expect(await store.find({ tenant: TENANT, name })).toMatchObject({
      status: 'running',
      blob: 'kept/replaced',
    });
  });
});

describe('a lease that ran out while the database took no writes', () => {
  it('is left to its holder: a retry joins, and both get one answer', async () => {
    const settings = { 'requests.lease_ms': 500 };
    const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
    const other = await GatewayRig.start({ models, settings });
    await other.ready('stt');
    const table = other.app.get(StoredRequestStore, {
      strict: false,
    });
    const renewing = jest
      .spyOn(table, 'renewLeases')
      .mockRejectedValue(storageUnavailable('No writes now.'));
    const opening = jest.spyOn(table, 'open');
    const before = worker.received.length;
    const keyed = () =>
      other.post(PATH, form(script.hold), {
        headers: { 'idempotency-key': 'outlived' },
      });
    const first = keyed();
    await until(() => worker.holding.length > 0);
    const ref = { tenant: TENANT, name: 'key:outlived' };
    await until(async () => (await table.find(ref))?.lapsed === true);
    const again = keyed();
    await until(() => opening.mock.calls.length > 1);
    await opening.mock.results[1]!.value;
    renewing.mockRestore();
    worker.releaseAll();
    const answers = await Promise.all([first, again]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answers[1].text()).toBe(await answers[0].text());
    expect(worker.received.length - before).toBe(1);
    await other.close();
  });
});

describe('a stored answer whose bytes are gone', () => {
  it('is a new attempt of a keyed request, not a 500, and 404 of an async one', async () => {
    const key = { 'idempotency-key': 'emptied' };
    await send(key);
    await answers.remove([(await store.find({ tenant: TENANT, name: 'key:emptied' }))!]);
    const again = await send(key);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    expect((await send(key)).headers.get('idempotent-replayed')).toBe('true');
    await later('emptied');
    await ended('emptied');
    await answers.remove([await stored('emptied')]);
    await expectError(content('emptied'), {
      status: 404,
      code: 'request_not_found',
    });
  });
});

describe('a shutdown with stored requests in the queue', () => {
  it('releases all of them with one statement, to be run by another gateway at once', async () => {
    const busy = new FixtureWorker({ model: 'stt' });
    const addresses = [`127.0.0.1:${await busy.start()}`];
    const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
    const data = temporaryFolder();
    const settings = { 'server.shutdown_grace_ms': 200, 'data.dir': data };
    const ending = await GatewayRig.start({ models, settings });
    await ending.ready('stt');
    const table = ending.app.get(StoredRequestStore, {
      strict: false,
    });
    const calls = (['release', 'drop', 'end'] as const).map(name => jest.spyOn(table, name));
    const ids = Array.from({ length: 40 }, (_, index) => `hold-queued-${index}`);
    for (const id of ids) {
      const headers = { prefer: 'respond-async', 'x-request-id': id };
      expect((await ending.post(PATH, form(script.hold), { headers })).status).toBe(202);
    }
    await ending.close();
    busy.stop();
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
    const database = new OpenDatabase(join(data, 'switchyard.db'));
    const others = new StoredRequestStore(database);
    const released: string[] = [];
    for (
      let taken = await others.takeOver(STRANGER);
      taken;
      taken = await others.takeOver(STRANGER)
    )
      released.push(taken.requestId);
    expect(released.sort()).toEqual([...ids].sort());
    await database.db.destroy();
    await rm(data, { recursive: true });
  });
});

/** What a gateway leaves that is killed while it runs a request. */
async function abandoned(id: string): Promise<void> {
  const sent = new Response(form());
  const headers = { 'content-type': sent.headers.get('content-type')! };
  const blob = newStoredBlob();
  await answers.storeBody({ blob }, Readable.from([Buffer.from(await sent.arrayBuffer())]));
  const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 };
  const request = {
    tenant: TENANT,
    name: `id:${id}`,
    requestId: id,
    path: PATH,
    fingerprint: '',
    headers,
    blob,
    ...times,
  };
  await store.open({ ...request, mode: 'async', status: 'running' }, { owner: 'dead', leaseMs: 0 });
}
