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

  it('runs as soon as the application is up', () => {
    expect(harness.scheduler.running).toBe(true);
    expect(harness.scheduler.accepting).toBe(true);
    expect(harness.loop.turns).toBeGreaterThan(0);
  });

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

  it('leaves in the queue what no slot is free for (capacity first)', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    void harness.submitAll(ids(5));
    await harness.settle();
    expect(sent()).toEqual(['r1']);
    expect(harness.queue.depth).toBe(4);
  });

  it('sends equals in the order they came', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    const settled = harness.submitAll(ids(6));
    for (let n = 1; n <= 6; n++) (await harness.pool.received(n))[n - 1]!.answer();
    await Promise.all(settled);
    expect(sent()).toEqual(ids(6));
  });

  it('sends REALTIME before BATCH that came earlier, when both wait for the same slot', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    void harness.submit('running');
    await harness.pool.received(1);
    void harness.submitAll(['b1', 'b2']);
    void harness.submit('live', REALTIME);
    for (let n = 1; n <= 4; n++) (await harness.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['running', 'live', 'b1', 'b2']);
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

  it('keeps BATCH within the slots also when all of it has aged, and overdraws them for REALTIME', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 2, maxBatch: 2 });
    void harness.submitAll(ids(5));
    await harness.pool.received(2);
    harness.clock.advance(30_001);
    void harness.submit('live', REALTIME);
    await harness.settle();
    expect(sent()).toEqual([...ids(2), 'live']);
    expect((await harness.scheduler.findAnywhere(aRef('r3')))?.waitsFor).toBe('slot');
    const before = harness.loop.turns;
    for (let i = 0; i < 100; i++) await harness.settle();
    expect(harness.loop.turns).toBe(before);
    for (let n = 1; n <= 6; n++) (await harness.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['r1', 'r2', 'live', 'r3', 'r4', 'r5']);
  });

  it('sends one BATCH request older than 30 s in four turns beside REALTIME, and counts one promotion', async () => {
    void harness.submit('old');
    harness.clock.advance(30_001);
    void harness.submitAll(ids(4, 'live'), REALTIME);
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    for (let n = 1; n <= 5; n++) (await harness.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['live1', 'live2', 'live3', 'old', 'live4']);
    expect(harness.of('promoted').map(({ requestId }) => requestId)).toEqual(['old']);
    expect(harness.types('old').slice(0, 3)).toEqual(['accepted', 'promoted', 'leased']);
  });

  it('counts a promotion once also when the aged request is sent again after its worker died', async () => {
    void harness.submit('old');
    harness.clock.advance(30_001);
    harness.pool.addWorker('a1', 'alpha');
    await harness.pool.received(1);
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    await harness.pool.received(2);
    expect(harness.types('old')).toEqual(['accepted', 'promoted', 'leased', 'requeued', 'leased']);
  });

  it('keeps sending for one model while the other has no worker', async () => {
    harness.pool.addWorker('b1', 'beta');
    void harness.submitAll(ids(3, 'dead'), REALTIME);
    void harness.submit('alive', { model: 'beta' });
    await harness.pool.received(1);
    expect(sent()).toEqual(['alive']);
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

  it('spreads requests over the workers of a model, least loaded first', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 4, maxBatch: 1 });
    harness.pool.addWorker('a2', 'alpha', { slots: 4, maxBatch: 1 });
    void harness.submitAll(ids(4));
    await harness.pool.received(4);
    expect([harness.pool.slotsInUse('a1'), harness.pool.slotsInUse('a2')]).toEqual([2, 2]);
  });

  it('keeps requests while all workers are away, and sends them when one is back', async () => {
    harness.pool.addWorker('a1', 'alpha');
    harness.pool.kill('a1');
    void harness.submitAll(ids(3));
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(0);
    expect(await harness.scheduler.findAnywhere(aRef('r1'))).toMatchObject({
      state: 'queued',
      position: 1,
      waitsFor: 'worker',
    });
    harness.clock.advance(60_000);
    harness.pool.addWorker('a1', 'alpha');
    await harness.pool.received(3);
    expect(sent()).toEqual(ids(3));
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

  it('settles all of a hundred requests exactly once, with no slot left taken', async () => {
    harness.pool.addWorker('a1', 'alpha', { slots: 7, maxBatch: 3 });
    const settled = harness.submitAll(ids(100));
    for (let n = 1; n <= 100; n++) {
      const call = (await harness.pool.received(n))[n - 1]!;
      if (n % 3 === 0) call.fail('engine_failed');
      else call.answer();
    }
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(statuses.filter(status => status === 'failed')).toHaveLength(33);
    expect(harness.of('settled')).toHaveLength(100);
    await harness.settle();
    expect(harness.pool.slotsInUse('a1')).toBe(0);
  });
});
