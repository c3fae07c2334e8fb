import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aRef } from '../../support/requests.js';
import { executionOf, ids, REALTIME, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('dispatch loop', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
  });
  afterEach(() => harness.stop());

  const sent = () => harness.pool.calls.map(({ id }) => id);

  it('sends a request to a worker and hands its answer back with the phases of its time', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    const [call] = await harness.pool.received(1);
    call!.answer({ batchSize: 1 });
    const { settlement, phases, attempts } = await settled;
    const execution = executionOf(settlement);
    expect(settlement).toMatchObject({
      status: 'completed',
      reply: { transcript: { text: 'text of r1' } },
    });
    expect(Object.keys(phases).sort()).toEqual([
      'batchWaitMs',
      'grpcMs',
      'queueWaitMs',
      'readyMs',
      'totalMs',
    ]);
    expect({
      attempts,
      batchSize: execution?.batchSize,
      prepMs: execution?.prepMs,
    }).toEqual({
      attempts: 1,
      batchSize: 1,
      prepMs: 1,
    });
  });

  it('tells what happened as events: accepted, leased, settled', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    (await harness.pool.received(1))[0]!.answer();
    await settled;
    expect(harness.types('r1')).toEqual(['accepted', 'leased', 'settled']);
  });

  it('has removed a settled request before anybody hears of it', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const seen: unknown[] = [];
    harness.bus.events$.subscribe(({ type, requestId }) => {
      if (type === 'settled') seen.push(harness.scheduler.find(aRef(requestId))?.state);
    });
    const settled = harness.submit('r1');
    (await harness.pool.received(1))[0]!.answer();
    await settled;
    expect(seen).toEqual(['completed']);
  });

  it('decides a burst of 50 submits in one turn', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 50, maxBatch: 1 });
    await harness.settle();
    const before = harness.loop.turns;
    void harness.submitAll(ids(50));
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(50);
    expect(harness.loop.turns - before).toBe(1);
  });

  it('does not spin while work waits and no slot is free', async () => {
    void harness.submitAll(ids(3));
    await harness.settle();
    const before = harness.loop.turns;
    for (let i = 0; i < 100; i++) await harness.settle();
    expect(harness.loop.turns).toBe(before);
  });

  it('sends REALTIME at once to a worker full of BATCH, one group of it and no more', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 4, maxBatch: 2 });
    void harness.submitAll(ids(6));
    await harness.pool.received(4);
    void harness.submitAll(['live1', 'live2', 'live3'], REALTIME);
    await harness.settle();
    expect(sent()).toEqual([...ids(4), 'live1', 'live2']);
    expect(harness.pool.workers().map(({ slots }) => slots)).toEqual([
      { total: 4, free: 0, inUse: 6 },
    ]);
    const waiting = await Promise.all(
      ['live3', 'r5'].map(id => harness.scheduler.findAnywhere(aRef(id))),
    );
    expect(waiting.map(view => view?.waitsFor)).toEqual(['slot', 'slot']);
  });

  it('frees a slot when the worker lets go, not when the answer is there', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    const [first] = harness.submitAll(['r1', 'r2']);
    const [call] = await harness.pool.received(1);
    call!.answerOnly();
    await first;
    await harness.settle();
    expect(sent()).toEqual(['r1']);
    call!.letGo();
    await harness.pool.received(2);
    expect(sent()).toEqual(['r1', 'r2']);
  });

  it('goes on when a subscriber of events throws', async () => {
    harness.bus.events$.subscribe(() => {
      throw new Error('a bad listener');
    });
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    (await harness.pool.received(1))[0]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('fails a request whose call cannot be started, and has its slot back', async () => {
    harness.pool.executeError = new Error('a defect');
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    const { settlement } = await harness.submit('r1');
    expect(settlement).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
    expect(harness.pool.slotsInUse('a1')).toBe(0);
  });
});
