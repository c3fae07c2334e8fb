import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';
import { aRef } from '../../support/requests.js';

describe('cancel of a request that a worker has', () => {
  let yard: SchedulerHarness;

  beforeEach(async () => {
    yard = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
  });
  afterEach(() => yard.stop());

  const running = async (id = 'r1') => {
    const settled = yard.submit(id);
    const calls = await yard.pool.received(yard.pool.calls.length + 1);
    return { settled, call: calls.at(-1)! };
  };

  it('answers the caller before the worker has heard of it', async () => {
    const { settled } = await running();
    let told!: (acknowledged: boolean) => void;
    yard.pool.onCancel = () => new Promise(resolve => (told = resolve));
    const cancelled = yard.scheduler.cancel(aRef('r1'), 'client');
    expect((await settled).settlement).toMatchObject({ status: 'cancelled', error: { code: 'request_cancelled' } });
    expect(yard.of('cancel_signalled')).toEqual([]);
    told(true);
    expect(await cancelled).toBe(true);
    expect(yard.of('cancel_signalled')).toHaveLength(1);
  });

  it.each(['client', 'disconnect', 'operator'] as const)(
    'tells the worker that has it, with the reason %s',
    async reason => {
      await running();
      await yard.scheduler.cancel(aRef('r1'), reason);
      expect(yard.pool.cancels).toEqual([{ workerId: 'a1', requestId: 'r1', reason }]);
    },
  );

  it('keeps the slot taken until the worker lets go', async () => {
    const { call } = await running();
    void yard.submit('next');
    await yard.scheduler.cancel(aRef('r1'), 'client');
    await yard.settle();
    expect(yard.pool.slotsInUse('a1')).toBe(1);
    expect(yard.pool.calls).toHaveLength(1);
    call.fail('request_cancelled');
    await yard.pool.received(2);
    expect(yard.pool.calls[1]!.id).toBe('next');
  });

  it('sends one Cancel for two cancels', async () => {
    await running();
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(false);
    expect(yard.pool.cancels).toHaveLength(1);
  });

  it('holds although the worker did not acknowledge', async () => {
    const { settled } = await running();
    yard.pool.onCancel = () => Promise.resolve(false);
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    expect((await settled).settlement.status).toBe('cancelled');
  });

  it('ignores an answer that comes too late, and counts the request as cancelled', async () => {
    const { settled, call } = await running();
    await yard.scheduler.cancel(aRef('r1'), 'client');
    call.answer();
    await yard.settle();
    expect((await settled).settlement.status).toBe('cancelled');
    expect(await scraped('scheduler_requests_total', { status: 'cancelled' })).toBe(1);
    expect(await scraped('scheduler_requests_total')).toBe(1);
    expect(yard.of('settled')).toHaveLength(1);
  });

  it('finds nothing after the answer', async () => {
    const { settled, call } = await running();
    call.answer();
    await settled;
    expect(await yard.scheduler.cancel(aRef('r1'), 'client')).toBe(false);
    expect(yard.pool.cancels).toEqual([]);
  });

  it('is not retried when the worker dies afterwards', async () => {
    await running();
    await yard.scheduler.cancel(aRef('r1'), 'client');
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(1);
    expect(yard.of('requeued')).toEqual([]);
  });

  it('touches no neighbour of its group', async () => {
    yard.pool.addWorker('a2', 'alpha', { slots: 8 });
    const settled = yard.submitAll(ids(8));
    const calls = await yard.pool.received(8);
    await yard.scheduler.cancel(aRef('r4'), 'client');
    calls.forEach(call => (call.id === 'r4' ? call.fail('request_cancelled') : call.answer()));
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(statuses).toEqual(ids(8).map(id => (id === 'r4' ? 'cancelled' : 'completed')));
  });

  it('keeps the id taken while the worker still has the work', async () => {
    const { call } = await running();
    await yard.scheduler.cancel(aRef('r1'), 'client');
    expect(() => yard.submit('r1')).toThrow(expect.objectContaining({ code: 'duplicate_request_id' }));
    call.letGo();
    await yard.settle();
    expect(() => yard.submit('r1')).not.toThrow();
  });

  it('is measured as a cancel at stage in_flight', async () => {
    await running();
    await yard.scheduler.cancel(aRef('r1'), 'client');
    expect(await scraped('scheduler_cancel_latency_seconds_count', { stage: 'in_flight' })).toBe(1);
    expect(yard.types('r1')).toEqual(['accepted', 'leased', 'cancel_requested', 'settled', 'cancel_signalled']);
  });

  it('sends nothing when a listener cancels between lease and call', async () => {
    const { call } = await running('first');
    yard.bus.events$.subscribe(event => {
      if (event.type === 'leased') void yard.scheduler.cancel(aRef(event.requestId), 'operator');
    });
    const settled = yard.submit('second');
    call.answer();
    expect((await settled).settlement.status).toBe('cancelled');
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(1);
    expect(yard.pool.slotsInUse('a1')).toBe(0);
  });

  it('in bulk by state running leaves the queued ones', async () => {
    await running();
    void yard.submitAll(['q1', 'q2']);
    expect(await yard.scheduler.cancelMany({ state: 'running' }, 'operator')).toEqual(['r1']);
    expect((await yard.scheduler.list({ state: 'queued' })).map(({ id }) => id)).toEqual(['q1', 'q2']);
  });

  it('in bulk settles every caller before the first worker answers', async () => {
    yard.pool.addWorker('a2', 'alpha', { slots: 8 });
    const settled = yard.submitAll(ids(8), REALTIME);
    await yard.pool.received(8);
    yard.pool.onCancel = () => new Promise(() => undefined);
    void yard.scheduler.cancelMany({}, 'operator');
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(statuses).toEqual(Array(8).fill('cancelled'));
    expect(yard.pool.cancels).toHaveLength(8);
  });

  it('leaks no slot over a thousand cancels at random moments', async () => {
    yard.pool.addWorker('a2', 'alpha', { slots: 8 });
    const settled = yard.submitAll(ids(1000));
    for (let n = 0; n < 1000; n++) {
      const id = `r${((n * 577) % 1000) + 1}`;
      void yard.scheduler.cancel(aRef(id), 'client');
      yard.pool.calls.forEach(call => call.letGo());
      if (n % 10 === 0) await yard.settle();
    }
    await Promise.all(settled);
    for (const call of yard.pool.calls) call.letGo();
    await yard.settle();
    expect([yard.pool.slotsInUse('a1'), yard.pool.slotsInUse('a2'), yard.queue.depth]).toEqual([0, 0, 0]);
    expect(yard.of('settled')).toHaveLength(1000);
  });
});
