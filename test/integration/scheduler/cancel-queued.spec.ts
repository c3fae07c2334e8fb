import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aKey, aRef } from '../../support/requests.js';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('cancel of a queued request', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
  });
  afterEach(() => harness.stop());

  const waiting = async () =>
    (await harness.scheduler.list({ state: 'queued' })).map(({ id }) => id);

  it('has taken it out of the queue before the call returns', () => {
    void harness.submitAll(['r1', 'r2']);
    void harness.cancellations.cancel(aRef('r1'), 'client');
    expect(harness.queue.depth).toBe(1);
    expect(harness.queue.get(aKey('r1')) !== undefined).toBe(false);
  });

  it('finds nothing after the queue deadline', async () => {
    const settled = harness.submit('r1');
    harness.clock.advance(120_001);
    harness.pool.poke('alpha');
    await settled;
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(false);
  });

  it('works in the very turn of the submit, before the loop has looked', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1', REALTIME);
    void harness.cancellations.cancel(aRef('r1'), 'disconnect');
    expect((await settled).settlement.status).toBe('cancelled');
    await harness.settle();
    expect(harness.pool.calls).toEqual([]);
  });

  it('works for a request that waits again because its worker died', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    await harness.pool.received(1);
    harness.pool.kill('a1');
    await harness.settle();
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(true);
    expect((await settled).settlement.status).toBe('cancelled');
    expect(harness.pool.cancels).toEqual([]);
  });

  it('tells cancel_requested, settled, cancel_signalled, in this order', async () => {
    void harness.submit('r1');
    await harness.cancellations.cancel(aRef('r1'), 'operator');
    expect(harness.types('r1')).toEqual([
      'accepted',
      'cancel_requested',
      'settled',
      'cancel_signalled',
    ]);
    expect(harness.of('cancel_requested')[0]).toMatchObject({
      stage: 'queued',
      reason: 'operator',
    });
  });

  it('is measured as a cancel at stage queued', async () => {
    void harness.submit('r1');
    await harness.cancellations.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_cancel_latency_seconds_count', { stage: 'queued' })).toBe(1);
  });

  it('frees the id at once', async () => {
    void harness.submit('r1');
    await harness.cancellations.cancel(aRef('r1'), 'client');
    expect(() => harness.submit('r1')).not.toThrow();
  });

  it('in bulk: by model, priority and state, oldest first', async () => {
    void harness.submitAll(['a1', 'a2']);
    void harness.submit('live', REALTIME);
    void harness.submit('b1', { model: 'beta' });
    expect(
      await harness.cancellations.cancelMany({ model: 'alpha', priority: 'batch' }, 'operator'),
    ).toEqual(['a1', 'a2']);
    expect(
      await harness.cancellations.cancelMany({ priority: 'realtime', state: 'queued' }, 'operator'),
    ).toEqual(['live']);
    expect(await harness.cancellations.cancelMany({ state: 'completed' }, 'operator')).toEqual([]);
    expect(await waiting()).toEqual(['b1']);
  });

  it('in bulk with an empty filter: all of them, each settled once', async () => {
    const settled = harness.submitAll(ids(50));
    expect(await harness.cancellations.cancelMany({}, 'operator')).toEqual(ids(50));
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(new Set(statuses)).toEqual(new Set(['cancelled']));
    expect(harness.of('settled')).toHaveLength(50);
  });
});
