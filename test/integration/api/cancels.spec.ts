import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { audioForm } from './audio-forms.js';
import { errorOf, GatewayRig, until } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';
/** The fixture takes groups of 4 and one more ahead (D-24). */
const SLOTS = 8;

let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  const model = sttModel({ addresses, capabilities: ['transcribe', 'prompt'] });
  rig = await GatewayRig.start({ models: [model], settings: { 'spool.memory_bytes': 0 } });
  await rig.ready('stt');
});
afterAll(async () => {
  await rig.close();
  worker.stop();
});
afterEach(async () => {
  worker.releaseAll();
  await until(async () => (await rig.spooled()).length === 0);
  await until(async () => {
    const { id } = await rig.ready('stt');
    return (await rig.metric(`switchyard_worker_slots_in_use{worker="${id}",model="stt"}`)) === 0;
  });
});

/** A request that its worker keeps until it is released or cancelled. */
const held = (id: string, init: RequestInit = {}): Promise<Response> =>
  rig.post(PATH, audioForm({ fields: { prompt: script.hold } }), { ...init, headers: { 'x-request-id': id } });

const cancel = async (id: string, route = 'requests'): Promise<unknown> =>
  (await rig.post(`/v1/${route}/${id}/cancel`, {})).json();

describe('cancel', () => {
  it.each(['audio/transcriptions', 'audio/translations', 'audio/speech', 'requests'])(
    'of a running request by /v1/%s settles its caller with 499, and reaches the worker',
    async route => {
      const id = `cancel-${route.replace('/', '-')}`;
      const answer = held(id);
      await until(() => worker.holding.includes(id));
      expect(await cancel(id, route)).toEqual({ request_id: id, cancelled: true });
      const error = await errorOf(answer);
      expect(error).toMatchObject({ status: 499, code: 'request_cancelled' });
      expect(error.headers.get('x-should-retry')).toBe('false');
      expect(error.headers.get('x-request-id')).toBe(id);
      expect(worker.cancelled).toContain(id);
    },
  );

  it('a second time, or of an unknown or finished request, is 200 and false', async () => {
    const answer = held('twice');
    await until(() => worker.holding.includes('twice'));
    await cancel('twice');
    await answer;
    expect(await cancel('twice')).toEqual({ request_id: 'twice', cancelled: false });
    expect(await cancel('never-seen')).toEqual({ request_id: 'never-seen', cancelled: false });
  });

  it('with no body at all is accepted', async () => {
    const response = await fetch(`${rig.url}/v1/requests/none/cancel`, { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([200, { request_id: 'none', cancelled: false }]);
  });

  it('with the type of a body that is none, as the Python SDK sends it, is accepted', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${rig.url}/v1/requests/unknown/cancel`, { method: 'POST', headers });
    expect(await response.json()).toEqual({ request_id: 'unknown', cancelled: false });
  });

  it('of a waiting request settles it, and no worker ever sees it', async () => {
    const before = worker.received.length;
    const running = Array.from({ length: SLOTS }, (_, index) => held(`running-${index}`));
    await worker.arrivals(before + SLOTS);
    const waiting = held('waiting');
    await until(async () => ((await rig.json('/v1/requests/waiting')) as { state?: string }).state === 'queued');
    expect(await rig.json('/v1/requests/waiting')).toMatchObject({ position: 1, waits_for: 'slot', attempts: 0 });
    expect(await cancel('waiting')).toEqual({ request_id: 'waiting', cancelled: true });
    expect(await errorOf(waiting)).toMatchObject({ status: 499, code: 'request_cancelled' });
    worker.releaseAll();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array<number>(SLOTS).fill(200));
    expect(worker.received).not.toContain('waiting');
  });
});

describe('a client that disconnects', () => {
  it('while its request runs cancels it at the worker', async () => {
    const leaving = new AbortController();
    const answer = held('left-running', { signal: leaving.signal });
    await until(() => worker.holding.includes('left-running'));
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => worker.cancelled.includes('left-running'));
    await until(async () => ((await rig.json('/v1/requests/left-running')) as { state: string }).state === 'cancelled');
  });

  it('while its request waits takes it out of the queue', async () => {
    const before = worker.received.length;
    const running = Array.from({ length: SLOTS }, (_, index) => held(`busy-${index}`));
    await worker.arrivals(before + SLOTS);
    const leaving = new AbortController();
    const answer = held('left-waiting', { signal: leaving.signal });
    await until(async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 0);
    worker.releaseAll();
    await Promise.all(running);
    expect(worker.received).not.toContain('left-waiting');
  });
});

describe('a request id', () => {
  it('that is still running is refused with 409, to be tried again later', async () => {
    const first = held('same');
    await until(() => worker.holding.includes('same'));
    const error = await errorOf(held('same'));
    expect(error).toMatchObject({ status: 409, code: 'duplicate_request_id' });
    expect(error.headers.get('x-should-retry')).toBe('true');
    worker.release('same');
    expect((await first).status).toBe(200);
  });

  it('that nobody knows is request_not_found', async () => {
    const error = await errorOf(await fetch(`${rig.url}/v1/requests/nobody`));
    expect(error).toMatchObject({ status: 404, code: 'request_not_found' });
  });
});
