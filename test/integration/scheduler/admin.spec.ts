import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aRef } from '../../support/requests.js';
import { ids, REALTIME, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('admin', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({
      settings: { 'batching.policy': 'none', 'queue.max_requests': 500 },
    });
  });
  afterEach(() => harness.stop());

  /** `r1` waits in it. */
  const inOpenWindow = async () => {
    await harness.stop();
    const settings = { 'batching.window_ms': 60_000, 'batching.quiet_gap_ms': 60_000 };
    harness = await SchedulerHarness.start({ settings });
    harness.pool.addWorker('a1', 'alpha');
    void harness.submit('r1');
    await harness.settle();
  };
  const found = async (id: string) => (await harness.http('GET', `/admin/v1/requests/${id}`)).body;

  describe('GET /admin/v1/queue', () => {
    it('tells depth by model and priority, bytes, bounds and the oldest wait', async () => {
      void harness.submitAll(ids(3));
      harness.clock.advance(1000);
      void harness.submit('live', { ...REALTIME, model: 'beta' });
      const { status, body } = await harness.http('GET', '/admin/v1/queue');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        accepting: true,
        total: { realtime: 1, batch: 3, bytes: 400, running: 0 },
        bounds: {
          max_requests: 500,
          max_requests_per_model: 2000,
          realtime_reserve: 0.2,
        },
        models: [
          { model: 'alpha', realtime: 0, batch: 3, bytes: 300 },
          { model: 'beta', realtime: 1, batch: 0, bytes: 100 },
        ],
      });
      const [alpha] = body.models as { oldest_wait_ms: number }[];
      expect(alpha!.oldest_wait_ms).toBeGreaterThanOrEqual(1000);
    });

    it('says that the server drains', async () => {
      await harness.drain();
      expect((await harness.http('GET', '/admin/v1/queue')).body).toMatchObject({
        accepting: false,
      });
    });
  });

  describe('GET /admin/v1/requests', () => {
    const listed = async (query: string) => {
      const { body } = await harness.http('GET', `/admin/v1/requests${query}`);
      return {
        total: body.total,
        ids: (body.data as { request_id: string }[]).map(({ request_id }) => request_id),
      };
    };

    beforeEach(async () => {
      harness.pool.addWorker('a1', 'alpha', { slots: 1 });
      void harness.submit('running');
      await harness.pool.received(1);
      void harness.submitAll(['b1', 'b2']);
      void harness.submit('live', REALTIME);
      void harness.submit('other', { model: 'beta' });
    });

    it('lists waiting ones in dispatch order, then running ones', async () => {
      expect(await listed('')).toEqual({
        total: 5,
        ids: ['live', 'b1', 'b2', 'other', 'running'],
      });
    });

    it('filters by model, priority and state', async () => {
      expect((await listed('?model=beta')).ids).toEqual(['other']);
      expect((await listed('?priority=realtime')).ids).toEqual(['live']);
      expect((await listed('?state=running')).ids).toEqual(['running']);
      expect((await listed('?model=alpha&state=queued&priority=batch')).ids).toEqual(['b1', 'b2']);
    });

    it('gives at most limit of them and says how many there are', async () => {
      expect(await listed('?limit=2')).toEqual({ total: 5, ids: ['live', 'b1'] });
    });

    it('lists ended ones by their state, latest first', async () => {
      await harness.cancellations.cancel(aRef('b1'), 'client');
      await harness.cancellations.cancel(aRef('b2'), 'client');
      expect((await listed('?state=cancelled')).ids).toEqual(['b2', 'b1']);
      expect((await listed('?state=completed')).ids).toEqual([]);
    });

    it('says what is allowed, as every other route does', async () => {
      const message = async (query: string) => {
        const { body } = await harness.http('GET', `/admin/v1/requests${query}`);
        return (body as { error: { message: string } }).error.message;
      };
      expect(await message('?limit=0')).toBe('`limit` must be a number from 1 to 1000; got 0.');
      expect(await message('?priority=2')).toBe(
        '`priority` must be one of realtime, batch; got "2".',
      );
      expect(await message('?modell=alpha')).toBe('`modell` is not known here.');
    });

    it.each(['?state=asleep', '?limit=0', '?priority=2', '?modell=alpha'])(
      'refuses %s with 400',
      async query => {
        const { status, body } = await harness.http('GET', `/admin/v1/requests${query}`);
        expect(status).toBe(400);
        expect(body).toMatchObject({
          error: { code: 'invalid_value', param: query.slice(1).split('=')[0] },
        });
      },
    );
  });

  describe('POST /admin/v1/requests/{id}/priority', () => {
    const change = (id: string, body: object = { priority: 'realtime' }, query = '') =>
      harness.http('POST', `/admin/v1/requests/${id}/priority${query}`, body);

    beforeEach(async () => {
      harness.pool.addWorker('a1', 'alpha', { slots: 1, overdraft: 0 });
      void harness.submit('running');
      await harness.pool.received(1);
      void harness.submitAll(['b1', 'b2']);
    });

    it('moves a waiting request to the other lane and answers with its new place', async () => {
      const { status, body } = await change('b2');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        request_id: 'b2',
        priority: 'realtime',
        state: 'queued',
        position: 1,
        ahead: [],
      });
      expect((await change('b2')).status).toBe(200);
      expect(harness.types('b2')).toEqual(['accepted', 'reprioritized']);
      const { cancelled } = (
        await harness.http('POST', '/admin/v1/requests/cancel', { priority: 'realtime' })
      ).body;
      expect(cancelled).toEqual(['b2']);
    });

    it('takes the only slot at once when it is made realtime while its batch window is open', async () => {
      await inOpenWindow();
      await change('r1');
      await harness.pool.received(1);
      expect(harness.types('r1')).toEqual(['accepted', 'reprioritized', 'leased']);
    });

    it.each([
      ['404 for one that is not there', 'none', {}, 404, 'request_not_found'],
      ['409 for one that runs', 'running', {}, 409, 'request_not_waiting'],
      ['400 for another word', 'b1', { priority: 'urgent' }, 400, 'invalid_value'],
      ['400 without one', 'b1', { priority: undefined }, 400, 'missing_required_parameter'],
      ['400 for a field that is not known', 'b1', { prio: 1 }, 400, 'invalid_value'],
    ])('answers %s', async (_, id, body, status, code) => {
      const answer = await change(id, { priority: 'realtime', ...body });
      expect([answer.status, answer.body]).toEqual([
        status,
        { error: expect.objectContaining({ code }) },
      ]);
    });

    it('answers 409 for one that has ended', async () => {
      await harness.cancellations.cancel(aRef('b1'), 'operator');
      expect((await change('b1')).body).toMatchObject({
        error: {
          code: 'request_not_waiting',
          message: 'The request b1 does not wait: it is cancelled.',
        },
      });
    });
  });

  describe('GET /admin/v1/requests/{id}: why does my request wait?', () => {
    it('no worker of its model is up', async () => {
      void harness.submitAll(['r1', 'r2']);
      expect(await found('r2')).toMatchObject({
        state: 'queued',
        position: 2,
        waits_for: 'worker',
      });
      expect((await found('r2')).explanation).toMatch(
        /number 2 in the queue of alpha .* no worker of alpha is up/,
      );
    });

    it('every slot is taken', async () => {
      harness.pool.addWorker('a1', 'alpha', { slots: 1 });
      void harness.submitAll(['r1', 'r2']);
      await harness.pool.received(1);
      expect(await found('r2')).toMatchObject({ position: 1, waits_for: 'slot' });
    });

    it('its window is open', async () => {
      await inOpenWindow();
      expect(await found('r1')).toMatchObject({ waits_for: 'window' });
    });

    it('it is old enough to have turns beside realtime', async () => {
      void harness.submit('r1');
      harness.clock.advance(31_000);
      expect(await found('r1')).toMatchObject({ aged: true });
      expect((await found('r1')).explanation).toContain(
        'It has aged and is dispatched in turns with realtime requests.',
      );
    });

    it('it does not wait: it runs, and where', async () => {
      harness.pool.addWorker('a1', 'alpha');
      void harness.submit('r1');
      await harness.pool.received(1);
      expect(await found('r1')).toMatchObject({
        state: 'running',
        worker: 'a1',
        attempts: 1,
      });
      expect((await found('r1')).explanation).toMatch(
        /^It is at a1: being prepared, waiting for the device or being computed/,
      );
    });

    it('its worker died and it waits again', async () => {
      harness.pool.addWorker('a1', 'alpha');
      void harness.submit('r1');
      await harness.pool.received(1);
      harness.pool.kill('a1');
      await harness.settle();
      expect((await found('r1')).explanation).toContain(
        'Its first worker was lost; it keeps its place.',
      );
    });

    it('it has ended: how, with its phases', async () => {
      harness.pool.addWorker('a1', 'alpha');
      const settled = harness.submit('r1');
      (await harness.pool.received(1))[0]!.fail('invalid_audio');
      await settled;
      const body = await found('r1');
      expect(body).toMatchObject({
        state: 'failed',
        code: 'invalid_audio',
        worker: 'a1',
      });
      expect(Object.keys(body.phases as object)).toContain('queue_wait_ms');
    });

    it('404 when nobody knows it', async () => {
      const { status, body } = await harness.http('GET', '/admin/v1/requests/nobody');
      expect([status, body]).toMatchObject([404, { error: { code: 'request_not_found' } }]);
    });
  });

  describe('cancel', () => {
    it('POST /admin/v1/requests/{id}/cancel cancels one, once, as operator', async () => {
      void harness.submit('r1');
      const cancel = () => harness.http('POST', '/admin/v1/requests/r1/cancel');
      expect(await cancel()).toEqual({
        status: 200,
        body: { request_id: 'r1', cancelled: true },
      });
      expect(await cancel()).toEqual({
        status: 200,
        body: { request_id: 'r1', cancelled: false },
      });
      expect(harness.of('cancel_requested')[0]).toMatchObject({ reason: 'operator' });
    });

    it('POST /admin/v1/requests/cancel cancels those that match, and says which', async () => {
      void harness.submitAll(['b1', 'b2']);
      void harness.submit('live', REALTIME);
      const { status, body } = await harness.http('POST', '/admin/v1/requests/cancel', {
        priority: 'batch',
      });
      expect([status, body]).toEqual([200, { cancelled: ['b1', 'b2'] }]);
      expect(harness.queue.depth).toBe(1);
    });

    it('cancels everything only when told so', async () => {
      void harness.submitAll(ids(3));
      const none = await harness.http('POST', '/admin/v1/requests/cancel', {});
      expect([none.status, none.body]).toMatchObject([
        400,
        { error: { code: 'missing_required_parameter' } },
      ]);
      expect(harness.queue.depth).toBe(3);
      const all = await harness.http('POST', '/admin/v1/requests/cancel', { all: true });
      expect(all.body).toEqual({ cancelled: ids(3) });
    });

    it('refuses a misspelt filter instead of cancelling more than was meant', async () => {
      void harness.submit('r1');
      const { status } = await harness.http('POST', '/admin/v1/requests/cancel', {
        all: true,
        modle: 'beta',
      });
      expect([status, harness.queue.depth]).toEqual([400, 1]);
    });
  });

  it('GET /admin/v1/workers lists the workers of the pool', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 4 });
    const { status, body } = await harness.http('GET', '/admin/v1/workers');
    expect(status).toBe(200);
    expect(body.data).toMatchObject([
      {
        id: 'a1',
        model: 'alpha',
        state: 'ready',
        slots: { total: 4, free: 4, in_use: 0 },
      },
    ]);
  });
});
