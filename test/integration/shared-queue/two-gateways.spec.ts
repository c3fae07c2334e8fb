import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith, REDIS } from '../../support/requires.js';
import { ids } from '../../support/scheduler-harness.js';
import { TwoGateways } from './two-gateways.js';

/** Each starts two processes. */
const LIMIT_MS = 180_000;

let harness: TwoGateways;
beforeAll(async () => {
  harness = await TwoGateways.start();
}, LIMIT_MS);
afterAll(() => harness[Symbol.asyncDispose](), LIMIT_MS);

describeWith(REDIS)('two gateways, one queue in Redis', () => {
  it(
    'B looks up, lists and cancels what A accepted; its caller at A receives 499',
    async () => {
      const { a, b } = harness;
      const answer = harness.transcribe(a, 'looked-up');
      await harness.waiting(1);
      expect((await harness.get(b, '/v1/requests/looked-up')).body).toMatchObject({
        state: 'queued',
        model: 'alpha',
        position: 1,
      });
      expect((await harness.get(b, '/admin/v1/requests')).body).toMatchObject({
        total: 1,
        data: [{ request_id: 'looked-up' }],
      });
      expect((await harness.get(b, '/admin/v1/queue')).body).toMatchObject({
        total: { batch: 1, realtime: 0 },
      });
      expect((await harness.post(b, '/v1/requests/looked-up/cancel')).body).toEqual({
        request_id: 'looked-up',
        cancelled: true,
      });
      expect((await answer).status).toBe(499);
      expect((await harness.post(b, '/v1/requests/looked-up/cancel')).body).toEqual({
        request_id: 'looked-up',
        cancelled: false,
      });
      await harness.waiting(0);
    },
    LIMIT_MS,
  );

  it(
    'B cancels what a worker computes for A: the worker is told, the caller at A receives 499',
    async () => {
      const { notes } = harness.puller;
      const before = notes.length;
      const answer = harness.transcribe(harness.a, 'cancelled');
      const held = await harness.puller.take();
      expect((await harness.get(harness.b, '/v1/requests/cancelled')).body).toMatchObject({
        state: 'running',
        worker: 'alpha-p',
      });
      expect((await harness.post(harness.b, '/v1/requests/cancelled/cancel')).body).toMatchObject({
        cancelled: true,
      });
      expect((await answer).status).toBe(499);
      await harness.until('the worker is told', () => Promise.resolve(notes.length > before));
      expect(notes.at(-1)).toMatchObject({ reason: 'client' });
      await held.complete();
    },
    LIMIT_MS,
  );

  it(
    'a cancel at B of what A accepted is told as true of nothing that completes, 60 at random moments',
    async () => {
      const { a, b, puller } = harness;
      const told: Promise<string>[] = [];
      for (let index = 0; index < 60; index++) {
        const id = `raced-${index}`;
        const answer = harness.transcribe(a, id);
        const held = await puller.take();
        const completed = held.complete();
        for (let turn = 0; turn < index % 20; turn++) await new Promise(setImmediate);
        const { body } = await harness.post(b, `/v1/requests/${id}/cancel`);
        told.push(answer.then(({ status }) => `${String(body.cancelled)}: ${status}`));
        await completed;
      }
      const seen = new Set(await Promise.all(told));
      expect([...seen].filter(one => !['true: 499', 'false: 200'].includes(one))).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'the same request id at both is computed once, and both callers get its answer; so does a third one afterwards',
    async () => {
      const before = (await harness.b.scrape()).sum('switchyard_requests_accepted_total');
      const both = [harness.transcribe(harness.a, 'same'), harness.transcribe(harness.b, 'same')];
      const held = await harness.puller.take();
      const joined = async () =>
        (await harness.b.scrape()).sum('switchyard_requests_accepted_total') === before + 1;
      await harness.until('B has joined', joined);
      await held.complete();
      expect((await Promise.all(both)).map(({ status, body }) => [status, body.text])).toEqual([
        [200, 'text of same'],
        [200, 'text of same'],
      ]);
      expect((await harness.transcribe(harness.b, 'same')).body).toMatchObject({
        text: 'text of same',
      });
      expect(await harness.client.llen('switchyard:requests-alpha:active')).toBe(0);
      await harness.waiting(0);
    },
    LIMIT_MS,
  );

  it(
    'a gateway whose attempt ends does not end the one that joined its job later',
    async () => {
      const { a, b, puller } = harness;
      const notes = puller.notes.length;
      const before = (await b.scrape()).sum('switchyard_requests_accepted_total');
      const left = new AbortController();
      const first = harness.transcribe(a, 'successor', {}, left.signal).catch(() => 'left');
      const held = await puller.take();
      const second = harness.transcribe(b, 'successor');
      await harness.until(
        'B has joined',
        async () => (await b.scrape()).sum('switchyard_requests_accepted_total') === before + 1,
      );
      const cancelled = (await a.scrape()).sum('scheduler_requests_total', 'status="cancelled"');
      left.abort();
      expect(await first).toBe('left');
      await harness.until(
        'A has ended its attempt',
        async () =>
          (await a.scrape()).sum('scheduler_requests_total', 'status="cancelled"') > cancelled,
      );
      await held.complete();
      expect((await second).body).toMatchObject({ text: 'text of successor' });
      expect(puller.notes.slice(notes)).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'audio waits in the blob store, never in Redis, and is removed when its request is answered',
    async () => {
      const answer = harness.transcribe(harness.a, 'with-audio');
      const held = await harness.puller.take();
      expect((held.data as { audio?: { blob: string } }).audio?.blob).toMatch(/^plane\/audio\//);
      expect(await harness.audioFiles()).toHaveLength(1);
      await held.complete();
      expect((await answer).status).toBe(200);
      await harness.until(
        'the audio is removed',
        async () => (await harness.audioFiles()).length === 0,
      );
    },
    LIMIT_MS,
  );

  it(
    'a request that its worker took too late is answered 504 deadline_missed, settled once',
    async () => {
      const { a, puller } = harness;
      const before = (await a.scrape()).sum('scheduler_requests_total');
      const answer = harness.transcribe(a, 'late', { 'x-deadline-ms': '600000' });
      const held = await puller.take();
      // As a worker does that finds the deadline of the job behind it.
      expect(held.data.deadlineMs).toBeGreaterThan(Date.now());
      const phases = {
        workerId: 'alpha-p',
        takenMs: Date.now(),
        batchWaitMs: 0,
        totalMs: 0,
        attempts: 1,
      };
      const error = {
        code: 'queue_timeout',
        message: 'No worker took the job before its deadline.',
      };
      await held.completeWith({ v: 1, outcome: 'failed', error, phases });
      expect(await answer).toMatchObject({
        status: 504,
        body: { error: { code: 'deadline_missed' } },
      });
      const scrape = await a.scrape();
      expect(scrape.sum('scheduler_requests_total')).toBe(before + 1);
      expect(scrape.sum('switchyard_deadlines_total', 'outcome="missed"')).toBe(1);
    },
    LIMIT_MS,
  );

  it(
    'both forecast by the rate of all that leaves the queue, however little of it was sent by the one that is asked',
    async () => {
      const { a, b, puller } = harness;
      const served = async (gateway: typeof a, id: string) => {
        const answer = harness.transcribe(gateway, id);
        await (await puller.take()).complete();
        expect((await answer).status).toBe(200);
      };
      for (let nth = 0; nth < 12; nth += 1) await served(a, `many-${nth}`);
      await served(b, 'one');
      const answer = harness.transcribe(a, 'asked');
      await harness.waiting(1);
      const startOf = async (gateway: typeof a) => {
        const { forecast } = (await harness.get(gateway, '/v1/requests/asked')).body;
        return (forecast as { start_in_ms: { p50: number } }).start_in_ms.p50;
      };
      const [byA, byB] = await Promise.all([startOf(a), startOf(b)]);
      expect(byB / byA).toBeLessThan(3);
      await (await puller.take()).complete();
      expect((await answer).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    'a full Redis is answered with 503, not ready, and taken back by itself when there is room',
    async () => {
      const { a, client } = harness;
      await client.config('SET', 'maxmemory-policy', 'noeviction');
      await client.config('SET', 'maxmemory', '1');
      await harness.ready(a, 503);
      const refused = await harness.transcribe(a, 'no-room');
      expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([
        503,
        'queue_unavailable',
      ]);
      await client.config('SET', 'maxmemory', '0');
      await harness.ready(a, 200);
      const answer = harness.transcribe(a, 'room-again');
      await (await harness.puller.take()).complete();
      expect((await answer).status).toBe(200);
    },
    LIMIT_MS,
  );
});

/** In this order: each leaves less than it found. */
describeWith(REDIS)('two gateways whose Redis is killed, then one of them', () => {
  it(
    'Redis is killed under load and restarts empty: not ready meanwhile, 503 for new ones, all accepted ones answered',
    async () => {
      const { a, b, puller, redis } = harness;
      const answers = ids(12).map((id, n) => harness.transcribe(n % 2 ? a : b, id));
      await harness.waiting(12);
      await puller.take();
      await redis.kill();
      await Promise.all([harness.ready(a, 503), harness.ready(b, 503)]);
      const refused = await harness.transcribe(a, 'new');
      expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([
        503,
        'queue_unavailable',
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      await redis.restart();
      await Promise.all([harness.ready(a, 200), harness.ready(b, 200)]);
      const served = new Set<string>();
      while (served.size < 12) {
        const held = await puller.take();
        served.add(held.id);
        await held.complete();
      }
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
      expect([...served].sort()).toEqual(ids(12).sort());
    },
    LIMIT_MS,
  );

  it(
    'a killed gateway loses only its sockets: the same request at the other one gets the answer of the first try',
    async () => {
      const lost = harness.transcribe(harness.a, 'lost').catch(() => 'broken');
      const held = await harness.puller.take();
      harness.a.process.child.kill('SIGKILL');
      expect(await lost).toBe('broken');
      const again = harness.transcribe(harness.b, 'lost');
      await harness.until(
        'B has joined',
        async () => (await harness.get(harness.b, '/v1/requests/lost')).body.state === 'running',
      );
      await held.complete();
      expect((await again).body).toMatchObject({ text: 'text of lost' });
    },
    LIMIT_MS,
  );

  it(
    'shows the worker that pulls in /health/ready, /v1/models and the admin view, and its absence when it is gone',
    async () => {
      const { b, puller } = harness;
      expect((await harness.get(b, '/v1/models/alpha')).body).toMatchObject({
        state: 'loaded',
      });
      expect((await harness.get(b, '/admin/v1/workers')).body).toMatchObject({
        data: [
          {
            id: 'alpha-p',
            state: 'ready',
            health: { engine: 'scripted', capabilities: ['transcribe'] },
          },
        ],
      });
      await puller.die();
      await harness.ready(b, 503);
      expect((await harness.get(b, '/v1/models/alpha')).body).toMatchObject({
        state: 'loading',
      });
    },
    LIMIT_MS,
  );
});
