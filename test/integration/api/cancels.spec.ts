import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type FixtureWorker } from '../../support/fixture-worker.js';
import { errorOf, expectError, type GatewayRig, until } from './gateway-rig.js';
import { HeldRig, SLOTS } from './held-rig.js';

let gateway: HeldRig;
let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  gateway = await HeldRig.start({ 'spool.memory_bytes': 0 });
  ({ worker, rig } = gateway);
});
afterAll(() => gateway.close());
afterEach(async () => {
  worker.releaseAll();
  await until(async () => (await rig.spooled()).length === 0);
  await until(async () => {
    const { id } = await rig.ready('stt');
    return (await rig.metric(`switchyard_worker_slots_in_use{worker="${id}",model="stt"}`)) === 0;
  });
});

const cancel = async (id: string, route = 'requests'): Promise<unknown> =>
  (await rig.post(`/v1/${route}/${id}/cancel`, {})).json();

describe('cancel', () => {
  it.each(['audio/transcriptions', 'audio/translations', 'audio/speech', 'requests'])(
    'of a running request by /v1/%s settles its caller with 499, and reaches the worker',
    async route => {
      const id = `cancel-${route.replace('/', '-')}`;
      const answer = gateway.held(id);
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
    const answer = gateway.held('twice');
    await until(() => worker.holding.includes('twice'));
    await cancel('twice');
    await answer;
    expect(await cancel('twice')).toEqual({ request_id: 'twice', cancelled: false });
    expect(await cancel('never-seen')).toEqual({
      request_id: 'never-seen',
      cancelled: false,
    });
  });

  it('with no body at all is accepted', async () => {
    const response = await fetch(`${rig.url}/v1/requests/none/cancel`, {
      method: 'POST',
    });
    expect([response.status, await response.json()]).toEqual([
      200,
      { request_id: 'none', cancelled: false },
    ]);
  });

  it('with the type of a body that is none, as the Python SDK sends it, is accepted', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${rig.url}/v1/requests/unknown/cancel`, {
      method: 'POST',
      headers,
    });
    expect(await response.json()).toEqual({ request_id: 'unknown', cancelled: false });
  });

  it('of a waiting request settles it, and no worker ever sees it', async () => {
    const before = worker.received.length;
    const running = Array.from({ length: SLOTS }, (_, index) => gateway.held(`running-${index}`));
    await worker.arrivals(before + SLOTS);
    const waiting = gateway.held('waiting');
    await until(
      async () =>
        ((await rig.json('/v1/requests/waiting')) as { state?: string }).state === 'queued',
    );
    expect(await rig.json('/v1/requests/waiting')).toMatchObject({
      position: 1,
      waits_for: 'slot',
      attempts: 0,
    });
    expect(await cancel('waiting')).toEqual({ request_id: 'waiting', cancelled: true });
    await expectError(waiting, {
      status: 499,
      code: 'request_cancelled',
    });
    worker.releaseAll();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(
      Array<number>(SLOTS).fill(200),
    );
    expect(worker.received).not.toContain('waiting');
  });
});

describe('a client that disconnects', () => {
  it('while its request runs cancels it at the worker', async () => {
    const leaving = new AbortController();
    const answer = gateway.held('left-running', { signal: leaving.signal });
    await until(() => worker.holding.includes('left-running'));
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => worker.cancelled.includes('left-running'));
    await until(
      async () =>
        ((await rig.json('/v1/requests/left-running')) as { state: string }).state === 'cancelled',
    );
  });

  it('while its request waits takes it out of the queue', async () => {
    const before = worker.received.length;
    const running = Array.from({ length: SLOTS }, (_, index) => gateway.held(`busy-${index}`));
    await worker.arrivals(before + SLOTS);
    const leaving = new AbortController();
    const answer = gateway.held('left-waiting', { signal: leaving.signal });
    await until(
      async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 1,
    );
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(
      async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 0,
    );
    worker.releaseAll();
    await Promise.all(running);
    expect(worker.received).not.toContain('left-waiting');
  });
});

describe('a request id', () => {
  it('that is still running is refused with 409, to be tried again later', async () => {
    const first = gateway.held('same');
    await until(() => worker.holding.includes('same'));
    const error = await errorOf(gateway.held('same'));
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
