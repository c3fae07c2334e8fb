import { afterEach, describe, expect, it } from '@jest/globals';
import { type SettledRequest } from '../../../src/gateway/scheduler/submitted-request.js';
import { itWith, REDIS } from '../../support/requires.js';
import { ids, REALTIME, scraped } from '../../support/scheduler-harness.js';
import { type Driver, QueueYard } from './queue-yard.js';
import { aRef } from '../../support/requests.js';

const DRIVERS: readonly Driver[] = REDIS.present ? ['embedded', 'redis'] : ['embedded'];
// Keeps the missing driver in the count of skipped tests.
if (!REDIS.present) itWith(REDIS)('queue: redis', () => undefined);

const outcome = ({ settlement }: SettledRequest): string =>
  settlement.status === 'completed' ? 'completed' : `${settlement.status} ${settlement.error.code}`;

describe.each(DRIVERS)('queue: %s', driver => {
  let yard: QueueYard;

  afterEach(() => yard.stop());

  const depth = async (model = 'alpha') => {
    const line = (await yard.scheduler.depths()).find(found => found.model === model);
    return [line?.realtime, line?.batch];
  };

  /** A worker that is busy, so that whatever comes next has to wait. */
  const occupied = async () => {
    const settled = yard.submit('blocker', REALTIME);
    const blocker = await yard.take();
    return { blocker, settled };
  };

  it('serves REALTIME before BATCH, whichever came first', async () => {
    yard = await QueueYard.start(driver);
    const { blocker } = await occupied();
    await yard.submitInLine(['b1', 'b2']);
    await yard.submitInLine(['r1', 'r2'], REALTIME);
    await blocker.answer();
    expect(await yard.serve(4)).toEqual(['r1', 'r2', 'b1', 'b2']);
  });

  it('is first in, first out within a priority: 8 of each', async () => {
    yard = await QueueYard.start(driver);
    const { blocker } = await occupied();
    await yard.submitInLine(ids(8, 'b'));
    await yard.submitInLine(ids(8, 'r'), REALTIME);
    await blocker.answer();
    expect(await yard.serve(16)).toEqual([...ids(8, 'r'), ...ids(8, 'b')]);
  });

  it('serves BATCH that waited 30 s before younger REALTIME, by time of acceptance, with an aging share of 1, and counts the promotion once', async () => {
    yard = await QueueYard.start(driver, { 'queue.aging_share': 1 });
    const { blocker } = await occupied();
    await yard.submitInLine(['old-batch']);
    await yard.submitInLine(['old-realtime'], REALTIME);
    await yard.age(31_000);
    await yard.submitInLine(['young-batch']);
    await yard.submitInLine(['young-realtime'], REALTIME);
    await blocker.answer();
    expect(await yard.serve(4)).toEqual(['old-batch', 'old-realtime', 'young-realtime', 'young-batch']);
    expect(yard.harness.of('promoted').map(({ requestId }) => requestId)).toEqual(['old-batch']);
  });

  it('cancels what waits: its caller hears of it at once, no worker ever does, a second cancel finds nothing', async () => {
    yard = await QueueYard.start(driver);
    const { blocker } = await occupied();
    const [first, gone, last] = (await yard.submitInLine(['b1', 'b2', 'b3'])).settled;
    expect(await yard.scheduler.cancel(aRef('b2'), 'client')).toBe(true);
    expect(outcome(await gone!)).toBe('cancelled request_cancelled');
    expect(await depth()).toEqual([0, 2]);
    expect(await yard.scheduler.cancel(aRef('b2'), 'client')).toBe(false);
    await blocker.answer();
    expect(await yard.serve(2)).toEqual(['b1', 'b3']);
    expect([await first!, await last!].map(outcome)).toEqual(['completed', 'completed']);
  });

  it('cancels what runs: its caller hears of it at once, and the worker is told', async () => {
    yard = await QueueYard.start(driver);
    const { blocker, settled } = await occupied();
    const cancelled = yard.scheduler.cancel(aRef('blocker'), 'client');
    expect(outcome(await settled)).toBe('cancelled request_cancelled');
    expect(await cancelled).toBe(true);
    expect(await blocker.toldToStop()).toBe(true);
  });

  it('cancels by filter: what waits for one model, and nothing else', async () => {
    yard = await QueueYard.start(driver);
    const { blocker, settled } = await occupied();
    const waiting = (await yard.submitInLine(['b1', 'b2'])).settled;
    const [other] = (await yard.submitInLine(['other'], { model: 'beta' })).settled;
    const stopped = await yard.scheduler.cancelMany({ model: 'alpha', state: 'queued' }, 'operator');
    expect([...stopped].sort()).toEqual(['b1', 'b2']);
    expect((await Promise.all(waiting)).map(outcome)).toEqual(Array(2).fill('cancelled request_cancelled'));
    await blocker.answer();
    expect(await yard.serve(1, 'beta')).toEqual(['other']);
    expect([await settled, await other!].map(outcome)).toEqual(['completed', 'completed']);
  });

  it('keeps a line for each model: one that stands still holds up no other', async () => {
    yard = await QueueYard.start(driver);
    await occupied();
    await yard.submitInLine(['a1', 'a2'], REALTIME);
    await yard.submitInLine(['b1', 'b2'], { model: 'beta' });
    expect(await yard.serve(2, 'beta')).toEqual(['b1', 'b2']);
    expect(await depth()).toEqual([2, 0]);
  });

  it('refuses one more than the bound of the model with queue_full and a time to come back, and takes it when there is room', async () => {
    yard = await QueueYard.start(driver, { 'queue.max_requests_per_model': 3, 'queue.realtime_reserve': 0 });
    const { blocker } = await occupied();
    await yard.submitInLine(ids(3));
    const refused = await yard.submit('r4');
    expect(outcome(refused)).toBe('failed queue_full');
    const { error } = refused.settlement as { error: { retryAfterMs?: number } };
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(1000);
    expect(yard.harness.types('r4')).toEqual(['rejected']);
    await blocker.answer();
    expect(await yard.serve(1)).toEqual(['r1']);
    await yard.take();
    await yard.submitInLine(['r5']);
    expect(yard.harness.types('r5')).toContain('accepted');
  });

  it('refuses one more than the bound of all models, and uploads beyond the bound of bytes', async () => {
    yard = await QueueYard.start(driver, {
      ...{ 'server.upload_limit_bytes': 400, 'queue.max_requests': 3, 'queue.max_bytes_per_model': 450 },
      'queue.realtime_reserve': 0,
    });
    await occupied();
    await yard.submitInLine(['a1'], { bytes: 400 });
    expect(outcome(await yard.submit('a2', { bytes: 400 }))).toBe('failed queue_full');
    await yard.submitInLine(['b1', 'b2'], { model: 'beta' });
    expect(outcome(await yard.submit('b3', { model: 'beta' }))).toBe('failed queue_full');
  });

  it('refuses the same burst that the bound does not hold: 10 at once, 4 places', async () => {
    yard = await QueueYard.start(driver, { 'queue.max_requests_per_model': 4, 'queue.realtime_reserve': 0 });
    await yard.open();
    const { settled } = await occupied();
    const burst = ids(10).map(id => yard.submit(id));
    await yard.until('6 refused', () => yard.harness.of('rejected').length === 6);
    await yard.until('4 wait', async () => (await depth())[1] === 4);
    await yard.scheduler.cancelMany({}, 'operator');
    const outcomes = (await Promise.all(burst)).map(outcome).sort();
    expect(outcomes).toEqual([
      ...Array<string>(4).fill('cancelled request_cancelled'),
      ...Array<string>(6).fill('failed queue_full'),
    ]);
    await settled;
  });

  it('fails what no slot became free for within queue.timeout_ms: queue_timeout, with a time to come back', async () => {
    yard = await QueueYard.start(driver, { 'queue.timeout_ms': 1500 });
    const { blocker } = await occupied();
    const late = await yard.submit('late');
    expect(outcome(late)).toBe('failed queue_timeout');
    expect((late.settlement as { error: { retryAfterMs?: number } }).error.retryAfterMs).toBeGreaterThanOrEqual(1000);
    expect(await depth()).toEqual([0, 0]);
    await blocker.answer();
  });

  it('fails with no_worker while none is up', async () => {
    yard = await QueueYard.start(driver, { 'queue.timeout_ms': 300 });
    expect(outcome(await yard.submit('alone'))).toBe('failed no_worker');
  });

  it('fails with inference_timeout what a worker has for too long, and tells the worker', async () => {
    yard = await QueueYard.start(driver);
    const settled = yard.submit('slow', { timeoutMs: 100 });
    const taken = await yard.take();
    expect(outcome(await settled)).toBe('failed inference_timeout');
    expect(await taken.toldToStop()).toBe(true);
  });

  it('knows its depth by priority exactly, promoted ones included', async () => {
    yard = await QueueYard.start(driver);
    await occupied();
    await yard.submitInLine(ids(3, 'b'));
    await yard.submitInLine(ids(2, 'r'), REALTIME);
    await yard.age(31_000);
    await yard.submitInLine(['b4']);
    await yard.submitInLine(['other'], { model: 'beta' });
    expect([await depth(), await depth('beta')]).toEqual([
      [2, 4],
      [0, 1],
    ]);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'batch' })).toBe(4);
    expect(await scraped('scheduler_queue_depth', { model: 'alpha', priority: 'realtime' })).toBe(2);
    expect(await scraped('switchyard_queue_bytes', { model: 'alpha' })).toBe(600);
  });

  it('lists who waits in order of dispatch, then who runs, and tells one its place', async () => {
    yard = await QueueYard.start(driver);
    await occupied();
    await yard.submitInLine(['b1']);
    await yard.submitInLine(['r1'], REALTIME);
    const listed = await yard.scheduler.list();
    expect(listed.map(({ id, state, position }) => [id, state, position])).toEqual([
      ['r1', 'queued', 1],
      ['b1', 'queued', 2],
      ['blocker', 'running', undefined],
    ]);
    expect(await yard.scheduler.findAnywhere(aRef('b1'))).toMatchObject({
      state: 'queued',
      position: 2,
      waitsFor: 'slot',
    });
  });

  it('settles each request exactly once, whatever races: 24 answered, cancelled, or both', async () => {
    yard = await QueueYard.start(driver);
    await yard.open();
    const all = ids(24);
    const { settled } = await yard.submitInLine(all);
    const cancels = all.filter((_, n) => n % 3 === 0);
    const racing = cancels.map(id => yard.scheduler.cancel(aRef(id), 'client'));
    await Promise.all(racing);
    while ((await yard.scheduler.list()).length > 0) {
      const taken = await yard.take();
      await Promise.all([taken.answer(), yard.scheduler.cancel(aRef(taken.id), 'client')]);
    }
    await Promise.all(settled);
    const counts = all.map(id => yard.harness.types(id).filter(type => type === 'settled').length);
    expect(counts).toEqual(Array(24).fill(1));
    const accepted = yard.harness.of('accepted').length;
    expect([accepted, yard.harness.of('settled').length]).toEqual([24, 24]);
  });
});
