import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aRef } from '../../support/requests.js';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('cancel of a request that a worker has', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
  });
  afterEach(() => harness.stop());

  const running = async (id = 'r1') => {
    const settled = harness.submit(id);
    const calls = await harness.pool.received(harness.pool.calls.length + 1);
    return { settled, call: calls.at(-1)! };
  };

  it.each(['client', 'disconnect', 'operator'] as const)(
    'tells the worker that has it, with the reason %s',
    async reason => {
      await running();
      await harness.cancellations.cancel(aRef('r1'), reason);
      expect(harness.pool.cancels).toEqual([{ workerId: 'a1', requestId: 'r1', reason }]);
    },
  );

  it('keeps the slot taken until the worker lets go', async () => {
    const { call } = await running();
    void harness.submit('next');
    await harness.cancellations.cancel(aRef('r1'), 'client');
    await harness.settle();
    expect(harness.pool.slotsInUse('a1')).toBe(1);
    expect(harness.pool.calls).toHaveLength(1);
    call.fail('request_cancelled');
    await harness.pool.received(2);
    expect(harness.pool.calls[1]!.id).toBe('next');
  });

  it('sends one Cancel for two cancels', async () => {
    await running();
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(true);
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(false);
    expect(harness.pool.cancels).toHaveLength(1);
  });

  it('holds although the worker did not acknowledge', async () => {
    const { settled } = await running();
    harness.pool.onCancel = () => Promise.resolve(false);
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(true);
    expect((await settled).settlement.status).toBe('cancelled');
  });

  it('ignores an answer that comes too late, and counts the request as cancelled', async () => {
    const { settled, call } = await running();
    await harness.cancellations.cancel(aRef('r1'), 'client');
    call.answer();
    await harness.settle();
    expect((await settled).settlement.status).toBe('cancelled');
    expect(await scraped('scheduler_requests_total', { status: 'cancelled' })).toBe(1);
    expect(await scraped('scheduler_requests_total')).toBe(1);
    expect(harness.of('settled')).toHaveLength(1);
  });

  it('is not retried when the worker dies afterwards', async () => {
    await running();
    await harness.cancellations.cancel(aRef('r1'), 'client');
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(1);
    expect(harness.of('requeued')).toEqual([]);
  });

  it('is measured as a cancel at stage in_flight', async () => {
    await running();
    await harness.cancellations.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_cancel_latency_seconds_count', { stage: 'in_flight' })).toBe(1);
    expect(harness.types('r1')).toEqual([
      'accepted',
      'leased',
      'cancel_requested',
      'settled',
      'cancel_signalled',
    ]);
  });

  it('sends nothing when a listener cancels between lease and call', async () => {
    const { call } = await running('first');
    harness.bus.events$.subscribe(event => {
      if (event.type === 'leased')
        void harness.cancellations.cancel(aRef(event.requestId), 'operator');
    });
    const settled = harness.submit('second');
    call.answer();
    expect((await settled).settlement.status).toBe('cancelled');
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(1);
    expect(harness.pool.slotsInUse('a1')).toBe(0);
  });

  it('in bulk by state running leaves the queued ones', async () => {
    await running();
    void harness.submitAll(['q1', 'q2']);
    expect(await harness.cancellations.cancelMany({ state: 'running' }, 'operator')).toEqual([
      'r1',
    ]);
    expect((await harness.scheduler.list({ state: 'queued' })).map(({ id }) => id)).toEqual([
      'q1',
      'q2',
    ]);
  });

  it('in bulk settles every caller before the first worker answers', async () => {
    harness.pool.addWorker('a2', 'alpha', { slots: 8 });
    const settled = harness.submitAll(ids(8), REALTIME);
    await harness.pool.received(8);
    harness.pool.onCancel = () => new Promise(() => undefined);
    void harness.cancellations.cancelMany({}, 'operator');
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(statuses).toEqual(Array(8).fill('cancelled'));
    expect(harness.pool.cancels).toHaveLength(8);
  });
});
