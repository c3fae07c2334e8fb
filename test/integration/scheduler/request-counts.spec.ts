import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';
import { aRef } from '../../support/requests.js';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

/** Value of a metric in one scrape, summed over its labels. */
const sumIn = (scrape: string, name: string): number =>
  scrape
    .split('\n')
    .filter(line => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

describe('request counts', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({
      settings: {
        'batching.policy': 'none',
        'queue.max_requests_per_model': 40,
        'queue.realtime_reserve': 0,
      },
    });
  });
  afterEach(() => harness.stop());

  const expectBalance = async () => {
    const scrape = await register.metrics();
    const accepted = sumIn(scrape, 'switchyard_requests_accepted_total');
    const waiting = sumIn(scrape, 'scheduler_queue_depth');
    const running = sumIn(scrape, 'switchyard_requests_running');
    const settled = sumIn(scrape, 'scheduler_requests_total');
    expect({ accepted }).toEqual({ accepted: waiting + running + settled });
    return { accepted, waiting, running, settled };
  };

  it('are accepted = waiting + running + settled at every scrape, whatever happens between', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 6, maxBatch: 4 });
    const settled: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n++) {
      try {
        settled.push(harness.submit(`r${n}`, n % 3 === 0 ? REALTIME : {}));
      } catch {
        // Over the bound: refused requests are not accepted ones.
      }
      const call = harness.pool.calls.at(-(n % 5) - 1);
      if (n % 4 === 0) call?.answer();
      if (n % 7 === 0) call?.fail('engine_failed');
      if (n % 9 === 0) void harness.cancellations.cancel(aRef(`r${n - 3}`), 'client');
      if (n % 50 === 49) {
        harness.pool.kill('a1');
        harness.pool.addWorker('a1', 'alpha', { slots: 6, maxBatch: 4 });
      }
      if (n % 2 === 0) await harness.settle();
      await expectBalance();
    }
    await harness.cancellations.cancelMany({}, 'operator');
    await Promise.all(settled);
    expect(await expectBalance()).toMatchObject({
      waiting: 0,
      running: 0,
      accepted: settled.length,
    });
  });

  it('are told by status, priority and model', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = [
      harness.submit('ok', REALTIME),
      harness.submit('bad'),
      harness.submit('gone', { model: 'beta' }),
    ];
    const calls = await harness.pool.received(2);
    expect(await scraped('switchyard_requests_running', { model: 'alpha' })).toBe(2);
    calls.find(({ id }) => id === 'ok')!.answer();
    calls.find(({ id }) => id === 'bad')!.fail('invalid_audio');
    await harness.cancellations.cancel(aRef('gone'), 'client');
    await Promise.all(settled);
    const count = (status: string, priority: string, model: string) =>
      scraped('scheduler_requests_total', { status, priority, model });
    expect(await count('completed', 'realtime', 'alpha')).toBe(1);
    expect(await count('failed', 'batch', 'alpha')).toBe(1);
    expect(await count('cancelled', 'batch', 'beta')).toBe(1);
    expect(await scraped('scheduler_requests_total')).toBe(3);
  });

  it('show the queue by priority and model, with a zero for every configured model', async () => {
    void harness.submitAll(ids(3));
    void harness.submit('live', REALTIME);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'batch' })).toBe(3);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'realtime' })).toBe(
      1,
    );
    expect(await scraped('switchyard_queue_bytes', { model: 'alpha' })).toBe(400);
    expect(await register.metrics()).toContain(
      'scheduler_queue_depth{priority="batch",model="beta"} 0',
    );
  });

  it('hold one queue wait per request, also for one that was sent twice', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    await harness.pool.received(1);
    harness.pool.kill('a1');
    harness.pool.addWorker('a2', 'alpha');
    (await harness.pool.received(2))[1]!.answer();
    await settled;
    expect(await scraped('scheduler_queue_wait_seconds_count')).toBe(1);
    expect(await scraped('scheduler_grpc_duration_seconds_count')).toBe(1);
  });

  it('hold no gRPC duration for a call whose caller left', async () => {
    harness.pool.addWorker('a1', 'alpha');
    void harness.submit('r1');
    await harness.pool.received(1);
    await harness.cancellations.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_grpc_duration_seconds_count')).toBe(0);
  });

  it('hold one promotion per aged request', async () => {
    void harness.submitAll(ids(2));
    harness.clock.advance(30_001);
    harness.pool.addWorker('a1', 'alpha');
    await harness.pool.received(2);
    expect(await scraped('scheduler_aging_promotions_total', { model: 'alpha' })).toBe(2);
  });

  it('include a promotion when it happens, not at dispatch: 3 without a worker, one of which disconnects', async () => {
    void harness.submitAll(ids(3));
    harness.clock.advance(30_001);
    await harness.cancellations.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_aging_promotions_total', { model: 'alpha' })).toBe(1);
    harness.loop.wake();
    await harness.settle();
    expect(await scraped('scheduler_aging_promotions_total', { model: 'alpha' })).toBe(3);
    expect(harness.types('r1')).toEqual([
      'accepted',
      'cancel_requested',
      'promoted',
      'settled',
      'cancel_signalled',
    ]);
    harness.clock.advance(90_000);
    harness.loop.wake();
    await harness.settle();
    expect(harness.types('r2')).toEqual(['accepted', 'promoted', 'settled']);
    expect(await scraped('scheduler_aging_promotions_total', { model: 'alpha' })).toBe(3);
  });

  it('hold no promotion of what is cancelled before it is 30 s old', async () => {
    void harness.submitAll(ids(2));
    harness.clock.advance(29_000);
    await harness.cancellations.cancelMany({}, 'operator');
    expect(await scraped('scheduler_aging_promotions_total')).toBe(0);
  });
});
