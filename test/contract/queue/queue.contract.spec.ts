import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { aRef } from '../../support/requests.js';
import { itWith, REDIS } from '../../support/requires.js';
import { ids, REALTIME, scraped } from '../../support/scheduler-harness.js';
import { type Driver, QueueHarness } from './queue-harness.js';

const DRIVERS: readonly Driver[] = REDIS.present ? ['embedded', 'redis', 'text'] : ['embedded'];
// Keeps the missing driver in the count of skipped tests.
if (!REDIS.present) itWith(REDIS)('queue: redis', () => undefined);

const outcome = ({ settlement }: SettledRequest) =>
  settlement.status === 'completed' ? 'completed' : `${settlement.status} ${settlement.error.code}`;

const within = (ms: number, leftMs = ms) => ({
  deadlines: [{ until: 'answer', withinMs: ms, leftMs }] as const,
});

describe.each(DRIVERS)('queue: %s', driver => {
  let harness: QueueHarness;

  afterEach(() => harness.stop());

  const depth = async (model = 'alpha') => {
    const line = (await harness.queues.depths()).find(found => found.model === model);
    return [line?.realtime, line?.batch];
  };

  /** A worker that is busy, so that whatever comes next has to wait. */
  const occupied = async (settings?: Parameters<typeof QueueHarness.start>[1]) => {
    harness = await QueueHarness.start(driver, settings);
    const settled = harness.submit('blocker', REALTIME);
    const blocker = await harness.take();
    return { blocker, settled };
  };

  const reprioritize = (id: string, priority: RequestPriority) =>
    harness.scheduler.reprioritize(aRef(id), priority);
  const cancel = (id: string) => harness.cancellations.cancel(aRef(id), 'client');

  it('serves REALTIME before BATCH, whichever came first, and each first in, first out: 8 of each', async () => {
    const { blocker } = await occupied();
    await harness.submitInLine(ids(8, 'b'));
    await harness.submitInLine(ids(8, 'r'), REALTIME);
    await blocker.answer();
    expect(await harness.serve(16)).toEqual([...ids(8, 'r'), ...ids(8, 'b')]);
  });

  it('serves BATCH after 30 s before younger REALTIME with an aging share of 1, and counts one promotion', async () => {
    const { blocker } = await occupied({ 'queue.aging_share': 1 });
    await harness.submitInLine(['old-batch']);
    // Times in Redis are estimates of its clock.
    await harness.age(1000);
    await harness.submitInLine(['old-realtime'], REALTIME);
    await harness.age(31_000);
    await harness.submitInLine(['young-batch']);
    await harness.submitInLine(['young-realtime'], REALTIME);
    await blocker.answer();
    expect(await harness.serve(4)).toEqual([
      'old-batch',
      'old-realtime',
      'young-realtime',
      'young-batch',
    ]);
    expect(harness.harness.of('promoted').map(({ requestId }) => requestId)).toEqual(['old-batch']);
  });

  it('cancels a waiting request: it ends at once, no worker gets it, and a second cancel finds nothing', async () => {
    const { blocker } = await occupied();
    const [first, gone, last] = (await harness.submitInLine(['b1', 'b2', 'b3'])).settled;
    expect(await cancel('b2')).toBe(true);
    expect(outcome(await gone!)).toBe('cancelled request_cancelled');
    expect(await depth()).toEqual([0, 2]);
    expect(await cancel('b2')).toBe(false);
    await blocker.answer();
    expect(await harness.serve(2)).toEqual(['b1', 'b3']);
    expect([await first!, await last!].map(outcome)).toEqual(['completed', 'completed']);
  });

  it('cancels what runs: its caller hears of it at once, and the worker is told', async () => {
    const { blocker, settled } = await occupied();
    const cancelled = cancel('blocker');
    expect(outcome(await settled)).toBe('cancelled request_cancelled');
    expect(await cancelled).toBe(true);
    expect(await blocker.toldToStop()).toBe(true);
  });

  it('cancels by filter: what waits for one model, and nothing else', async () => {
    const { blocker, settled } = await occupied();
    const waiting = (await harness.submitInLine(['b1', 'b2'])).settled;
    const [other] = (await harness.submitInLine(['other'], { model: 'beta' })).settled;
    const stopped = await harness.cancellations.cancelMany(
      { model: 'alpha', state: 'queued' },
      'operator',
    );
    expect([...stopped].sort()).toEqual(['b1', 'b2']);
    expect((await Promise.all(waiting)).map(outcome)).toEqual(
      Array(2).fill('cancelled request_cancelled'),
    );
    await blocker.answer();
    expect(await harness.serve(1, 'beta')).toEqual(['other']);
    expect([await settled, await other!].map(outcome)).toEqual(['completed', 'completed']);
  });

  it('gives a waiting request another priority: its enqueue time decides its place', async () => {
    const { blocker } = await occupied();
    for (const [id, spec] of [
      ['r1', REALTIME],
      ['b1', {}],
      ['b2', {}],
      ['b3', {}],
      ['r2', REALTIME],
    ] as const) {
      await harness.submitInLine([id], spec);
      await harness.age(10);
    }
    expect(await reprioritize('b2', RequestPriority.REALTIME)).toBe(true);
    expect(await depth()).toEqual([3, 2]);
    expect(await reprioritize('r1', RequestPriority.BATCH)).toBe(true);
    expect(await harness.scheduler.findAnywhere(aRef('r1'))).toMatchObject({
      priority: 'batch',
      position: 3,
    });
    await harness.until(
      'both changes are known',
      () => harness.harness.of('reprioritized').length === 2,
    );
    expect(
      harness.harness
        .of('reprioritized')
        .map(({ requestId, from, priority }) => [requestId, from, priority]),
    ).toEqual([
      ['b2', 'batch', 'realtime'],
      ['r1', 'realtime', 'batch'],
    ]);
    await blocker.answer();
    expect(await harness.serve(5)).toEqual(['b2', 'r2', 'r1', 'b1', 'b3']);
    const ended = harness.harness
      .of('settled')
      .map(({ requestId, priority }) => [requestId, priority]);
    expect(ended).toEqual(
      expect.arrayContaining([
        ['b2', 'realtime'],
        ['r1', 'batch'],
      ]),
    );
  });

  it('keeps the age of a request that changes its priority: 31 s old, it goes before younger REALTIME', async () => {
    const { blocker } = await occupied({ 'queue.aging_share': 1 });
    await harness.submitInLine(['old'], REALTIME);
    await harness.age(31_000);
    await harness.submitInLine(['young'], REALTIME);
    expect(await reprioritize('old', RequestPriority.BATCH)).toBe(true);
    await harness.until('the change is known', () =>
      harness.harness.types('old').includes('reprioritized'),
    );
    expect(await depth()).toEqual([1, 1]);
    await blocker.answer();
    expect(await harness.serve(2)).toEqual(['old', 'young']);
    expect(harness.harness.of('promoted').map(({ requestId }) => requestId)).toEqual(['old']);
  });

  it('changes no priority of what runs, and of what is not there', async () => {
    await occupied();
    expect(await reprioritize('blocker', RequestPriority.BATCH)).toBe(false);
    expect(await reprioritize('nothing', RequestPriority.BATCH)).toBe(false);
  });

  it('keeps a line for each model: one that stands still holds up no other', async () => {
    await occupied();
    await harness.submitInLine(['a1', 'a2'], REALTIME);
    await harness.submitInLine(['b1', 'b2'], { model: 'beta' });
    expect(await harness.serve(2, 'beta')).toEqual(['b1', 'b2']);
    expect(await depth()).toEqual([2, 0]);
  });

  it('rejects requests above the model limit with queue_full and a retry time; accepts them with room', async () => {
    const { blocker } = await occupied({
      'queue.max_requests_per_model': 3,
      'queue.realtime_reserve': 0,
    });
    await harness.submitInLine(ids(3));
    const refused = await harness.submit('r4');
    expect(outcome(refused)).toBe('failed queue_full');
    const { error } = refused.settlement as { error: { retryAfterMs?: number } };
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(1000);
    expect(harness.harness.types('r4')).toEqual(['rejected']);
    await blocker.answer();
    expect(await harness.serve(1)).toEqual(['r1']);
    await harness.take();
    await harness.submitInLine(['r5']);
    expect(harness.harness.types('r5')).toContain('accepted');
  });

  it('refuses one more than the bound of all models, and uploads beyond the bound of bytes', async () => {
    await occupied({
      'server.upload_limit_bytes': 400,
      'queue.max_requests': 3,
      'queue.max_bytes_per_model': 450,
      'queue.realtime_reserve': 0,
    });
    await harness.submitInLine(['a1'], { bytes: 400 });
    expect(outcome(await harness.submit('a2', { bytes: 400 }))).toBe('failed queue_full');
    await harness.submitInLine(['b1', 'b2'], { model: 'beta' });
    expect(outcome(await harness.submit('b3', { model: 'beta' }))).toBe('failed queue_full');
  });

  it('refuses the same burst that the bound does not hold: 10 at once, 4 places', async () => {
    const { settled } = await occupied({
      'queue.max_requests_per_model': 4,
      'queue.realtime_reserve': 0,
    });
    const burst = ids(10).map(id => harness.submit(id));
    await harness.until('6 refused', () => harness.harness.of('rejected').length === 6);
    await harness.until('4 wait', async () => (await depth())[1] === 4);
    await harness.cancellations.cancelMany({}, 'operator');
    const outcomes = (await Promise.all(burst)).map(outcome).sort();
    expect(outcomes).toEqual([
      ...Array<string>(4).fill('cancelled request_cancelled'),
      ...Array<string>(6).fill('failed queue_full'),
    ]);
    await settled;
  });

  it('fails a request that gets no slot within queue.timeout_ms: queue_timeout, with a retry time', async () => {
    const { blocker } = await occupied({ 'queue.timeout_ms': 1500 });
    const late = await harness.submit('late');
    expect(outcome(late)).toBe('failed queue_timeout');
    expect(
      (late.settlement as { error: { retryAfterMs?: number } }).error.retryAfterMs,
    ).toBeGreaterThanOrEqual(1000);
    await harness.until('it has left', async () => isDeepStrictEqual(await depth(), [0, 0]));
    await blocker.answer();
  });

  it('does not start what can no longer meet its deadline, and refuses what is late already', async () => {
    const { blocker } = await occupied();
    expect(outcome(await harness.submit('due', within(2000, 0)))).toBe(
      'failed deadline_unreachable',
    );
    expect(harness.harness.types('due')).toEqual(['rejected']);
    expect(outcome(await harness.submit('late', within(2000)))).toBe('failed deadline_missed');
    await harness.submitInLine(['next']);
    await blocker.answer();
    expect(await harness.serve(1)).toEqual(['next']);
  });

  it('refuses what takes longer than its deadline, once it has seen the model answer', async () => {
    const { blocker, settled } = await occupied();
    harness.harness.clock.advance(5000);
    await blocker.answer();
    await settled;
    const refused = await harness.submit('short', within(4000));
    expect(outcome(refused)).toBe('failed deadline_unreachable');
    expect((refused.settlement as { error: Error }).error.message).toMatch(
      /, would take about \d{4,} ms /,
    );
    const accepted = harness.submit('long', within(100_000));
    expect(await harness.serve(1)).toEqual(['long']);
    expect(outcome(await accepted)).toBe('completed');
  });

  it('fails with no_worker while none is up', async () => {
    harness = await QueueHarness.start(driver, { 'queue.timeout_ms': 300 });
    expect(outcome(await harness.submit('alone'))).toBe('failed no_worker');
  });

  it('fails with inference_timeout what a device computes for too long', async () => {
    harness = await QueueHarness.start(driver);
    const settled = harness.submit('slow', { timeoutMs: 100 });
    const taken = await harness.take();
    await taken.overrun();
    expect(outcome(await settled)).toBe('failed inference_timeout');
  });

  it('knows its depth by priority exactly, promoted ones included', async () => {
    await occupied();
    await harness.submitInLine(ids(3, 'b'));
    await harness.submitInLine(ids(2, 'r'), REALTIME);
    await harness.age(31_000);
    await harness.submitInLine(['b4']);
    await harness.submitInLine(['other'], { model: 'beta' });
    expect([await depth(), await depth('beta')]).toEqual([
      [2, 4],
      [0, 1],
    ]);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'batch' })).toBe(4);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'realtime' })).toBe(
      2,
    );
    expect(await scraped('switchyard_queue_bytes', { model: 'alpha' })).toBe(600);
  });

  it('lists who waits in order of dispatch, then who runs, and tells one its place', async () => {
    await occupied();
    await harness.submitInLine(['b1']);
    await harness.submitInLine(['r1'], REALTIME);
    const listed = await harness.scheduler.list();
    expect(listed.map(({ id, state, position }) => [id, state, position])).toEqual([
      ['r1', 'queued', 1],
      ['b1', 'queued', 2],
      ['blocker', 'running', undefined],
    ]);
    expect(await harness.scheduler.findAnywhere(aRef('b1'))).toMatchObject({
      state: 'queued',
      position: 2,
      waitsFor: 'slot',
    });
  });

  it('settles each request exactly once, whatever races: 24 answered, cancelled, or both', async () => {
    harness = await QueueHarness.start(driver);
    await harness.open();
    const all = ids(24);
    const { settled } = await harness.submitInLine(all);
    const cancels = all.filter((_, n) => n % 3 === 0);
    await Promise.all(cancels.map(cancel));
    while ((await harness.scheduler.list()).length > 0) {
      const taken = await harness.take();
      await Promise.all([taken.answer(), cancel(taken.id)]);
    }
    await Promise.all(settled);
    const counts = all.map(
      id => harness.harness.types(id).filter(type => type === 'settled').length,
    );
    expect(counts).toEqual(Array(24).fill(1));
    const accepted = harness.harness.of('accepted').length;
    expect([accepted, harness.harness.of('settled').length]).toEqual([24, 24]);
  });
});

describe.each(DRIVERS)('queue: %s, with several tenants (D-25)', driver => {
  let harness: QueueHarness;
  let blocker: Awaited<ReturnType<QueueHarness['take']>>;

  beforeEach(async () => {
    harness = await QueueHarness.start(driver);
    void harness.submit('blocker', { ...REALTIME, tenant: 'other' });
    blocker = await harness.take();
  });
  afterEach(() => harness.stop());

  it.each([{}, REALTIME])(
    'serves tenants in turn, whichever queued more before: %j',
    async priority => {
      await harness.submitInLine(['a1', 'a2', 'a3', 'a4'], { ...priority, tenant: 'a' });
      await harness.submitInLine(['b1', 'b2'], { ...priority, tenant: 'b' });
      await blocker.answer();
      expect(await harness.serve(6)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
    },
  );

  it('does not let aged requests of one tenant take the turns of another', async () => {
    await harness.submitInLine(['a1', 'a2', 'a3', 'a4'], { tenant: 'a' });
    await harness.age(31_000);
    await harness.submitInLine(['b1', 'b2'], { tenant: 'b' });
    await blocker.answer();
    expect((await harness.serve(6)).slice(0, 4).sort()).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('serves REALTIME of every tenant before BATCH of any', async () => {
    await harness.submitInLine(['b1', 'b2'], { tenant: 'b' });
    await harness.submitInLine(['a1', 'a2', 'a3'], { ...REALTIME, tenant: 'a' });
    await blocker.answer();
    expect(await harness.serve(5)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  });

  it('at a bound refuses the tenant that fills the queue, and not one that holds less', async () => {
    await harness.stop();
    harness = await QueueHarness.start(driver, {
      'queue.max_requests_per_model': 4,
      'queue.realtime_reserve': 0,
    });
    await harness.open();
    const settled = harness.submit('blocker', REALTIME);
    blocker = await harness.take();
    await harness.submitInLine(ids(4, 'a'), { tenant: 'a' });
    expect(outcome(await harness.submit('a5', { tenant: 'a' }))).toBe('failed queue_full');
    await harness.submitInLine(['b1'], { tenant: 'b' });
    expect(outcome(await harness.submit('b2', { tenant: 'b' }))).toBe('failed queue_full');
    await blocker.answer();
    expect(outcome(await settled)).toBe('completed');
    expect(await harness.serve(5)).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
  });

  it('charges nothing for a request that was cancelled while it waited', async () => {
    await harness.submitInLine(['a1', 'a2', 'a3'], { tenant: 'a' });
    await harness.submitInLine(['b1', 'b2'], { tenant: 'b' });
    await harness.cancellations.cancel(aRef('a1', 'a'), 'client');
    await blocker.answer();
    expect(await harness.serve(4)).toEqual(['a2', 'b1', 'a3', 'b2']);
  });
});
