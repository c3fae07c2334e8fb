import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';
import { aKey, aRef } from '../../support/requests.js';

describe('cancel of a queued request', () => {
  let yard: SchedulerHarness;

  beforeEach(async () => {
    yard = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
  });
  afterEach(() => yard.stop());

  const waiting = async () => (await yard.scheduler.list({ state: 'queued' })).map(({ id }) => id);

  it('answers its caller with request_cancelled (499)', async () => {
    const settled = yard.submit('r1');
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    const { settlement, attempts } = await settled;
    expect(settlement).toMatchObject({ status: 'cancelled', error: { code: 'request_cancelled' } });
    expect(settlement.status === 'cancelled' && settlement.error.definition.status).toBe(499);
    expect(attempts).toBe(0);
  });

  it('has taken it out of the queue before the call returns', () => {
    void yard.submitAll(['r1', 'r2']);
    void yard.scheduler.cancel(aRef('r1'), 'client');
    expect(yard.queue.depth).toBe(1);
    expect(yard.queue.has(aKey('r1'))).toBe(false);
  });

  it('never lets a worker see it', async () => {
    void yard.submitAll(['r1', 'r2']);
    await yard.scheduler.cancel(aRef('r1'), 'client');
    yard.pool.addWorker('a1', 'alpha');
    await yard.pool.received(1);
    await yard.settle();
    expect(yard.pool.calls.map(({ id }) => id)).toEqual(['r2']);
    expect(yard.pool.cancels).toEqual([]);
  });

  it('finds nothing the second time', async () => {
    void yard.submit('r1');
    await yard.scheduler.cancel(aRef('r1'), 'client');
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(false);
    expect(yard.of('settled')).toHaveLength(1);
  });

  it('is true for exactly one of two at the same time', async () => {
    void yard.submit('r1');
    const both = [yard.scheduler.cancel(aRef('r1'), 'client'), yard.scheduler.cancel(aRef('r1'), 'operator')];
    expect(await Promise.all(both)).toEqual([true, false]);
  });

  it('finds nothing under an unknown id', async () => {
    expect(await yard.scheduler.cancel(aRef('nobody'), 'client')).toBe(false);
    expect(yard.events).toEqual([]);
  });

  it('finds nothing after the queue deadline', async () => {
    const settled = yard.submit('r1');
    yard.clock.advance(120_001);
    yard.pool.poke('alpha');
    await settled;
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(false);
  });

  it('works in the very turn of the submit, before the loop has looked', async () => {
    yard.pool.addWorker('a1', 'alpha');
    const settled = yard.submit('r1', REALTIME);
    void yard.scheduler.cancel(aRef('r1'), 'disconnect');
    expect((await settled).settlement.status).toBe('cancelled');
    await yard.settle();
    expect(yard.pool.calls).toEqual([]);
  });

  it('keeps the order of the others', async () => {
    void yard.submitAll(ids(5));
    await yard.scheduler.cancel(aRef('r1'), 'client');
    await yard.scheduler.cancel(aRef('r3'), 'client');
    expect(await waiting()).toEqual(['r2', 'r4', 'r5']);
  });

  it('works for a request that waits again because its worker died', async () => {
    yard.pool.addWorker('a1', 'alpha');
    const settled = yard.submit('r1');
    await yard.pool.received(1);
    yard.pool.kill('a1');
    await yard.settle();
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    expect((await settled).settlement.status).toBe('cancelled');
    expect(yard.pool.cancels).toEqual([]);
  });

  it('tells cancel_requested, settled, cancel_signalled, in this order', async () => {
    void yard.submit('r1');
    await yard.scheduler.cancel(aRef('r1'), 'operator');
    expect(yard.types('r1')).toEqual(['accepted', 'cancel_requested', 'settled', 'cancel_signalled']);
    expect(yard.of('cancel_requested')[0]).toMatchObject({ stage: 'queued', reason: 'operator' });
  });

  it('is measured as a cancel at stage queued', async () => {
    void yard.submit('r1');
    await yard.scheduler.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_cancel_latency_seconds_count', { stage: 'queued' })).toBe(1);
  });

  it('frees the id at once', async () => {
    void yard.submit('r1');
    await yard.scheduler.cancel(aRef('r1'), 'client');
    expect(() => yard.submit('r1')).not.toThrow();
  });

  it('in bulk: by model, priority and state, oldest first', async () => {
    void yard.submitAll(['a1', 'a2']);
    void yard.submit('live', REALTIME);
    void yard.submit('b1', { model: 'beta' });
    expect(await yard.scheduler.cancelMany({ model: 'alpha', priority: 'batch' }, 'operator')).toEqual(['a1', 'a2']);
    expect(await yard.scheduler.cancelMany({ priority: 'realtime', state: 'queued' }, 'operator')).toEqual(['live']);
    expect(await yard.scheduler.cancelMany({ state: 'completed' }, 'operator')).toEqual([]);
    expect(await waiting()).toEqual(['b1']);
  });

  it('in bulk with an empty filter: all of them, each settled once', async () => {
    const settled = yard.submitAll(ids(50));
    expect(await yard.scheduler.cancelMany({}, 'operator')).toEqual(ids(50));
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(new Set(statuses)).toEqual(new Set(['cancelled']));
    expect(yard.of('settled')).toHaveLength(50);
  });
});
