import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ids, REALTIME, SchedulerHarness } from '../../support/scheduler-harness.js';
import { aRef } from '../../support/requests.js';

describe('dispatch loop', () => {
  let yard: SchedulerHarness;

  beforeEach(async () => {
    yard = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
  });
  afterEach(() => yard.stop());

  const sent = () => yard.pool.calls.map(({ id }) => id);

  it('runs as soon as the application is up', () => {
    expect(yard.scheduler.running).toBe(true);
    expect(yard.scheduler.accepting).toBe(true);
    expect(yard.loop.turns).toBeGreaterThan(0);
  });

  it('sends a request to a worker and hands its answer back with the phases of its time', async () => {
    yard.pool.addWorker('a1', 'alpha');
    const settled = yard.submit('r1');
    const [call] = await yard.pool.received(1);
    call!.answer({ batchSize: 1 });
    const { settlement, phases, attempts, execution, batchSize } = await settled;
    expect(settlement).toMatchObject({ status: 'completed', reply: { transcript: { text: 'text of r1' } } });
    expect(Object.keys(phases).sort()).toEqual(['batchWaitMs', 'grpcMs', 'queueWaitMs', 'readyMs', 'totalMs']);
    expect({ attempts, batchSize, prepMs: execution?.prepMs }).toEqual({ attempts: 1, batchSize: 1, prepMs: 1 });
  });

  it('tells what happened as events: accepted, leased, settled', async () => {
    yard.pool.addWorker('a1', 'alpha');
    const settled = yard.submit('r1');
    (await yard.pool.received(1))[0]!.answer();
    await settled;
    expect(yard.types('r1')).toEqual(['accepted', 'leased', 'settled']);
  });

  it('has removed a settled request before anybody hears of it', async () => {
    yard.pool.addWorker('a1', 'alpha');
    const seen: unknown[] = [];
    yard.bus.events$.subscribe(({ type, requestId }) => {
      if (type === 'settled') seen.push(yard.scheduler.find(aRef(requestId))?.state);
    });
    const settled = yard.submit('r1');
    (await yard.pool.received(1))[0]!.answer();
    await settled;
    expect(seen).toEqual(['completed']);
  });

  it('decides a burst of 50 submits in one turn', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 50, maxBatch: 1 });
    await yard.settle();
    const before = yard.loop.turns;
    void yard.submitAll(ids(50));
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(50);
    expect(yard.loop.turns - before).toBe(1);
  });

  it('does not spin while work waits and no slot is free', async () => {
    void yard.submitAll(ids(3));
    await yard.settle();
    const before = yard.loop.turns;
    for (let i = 0; i < 100; i++) await yard.settle();
    expect(yard.loop.turns).toBe(before);
  });

  it('leaves in the queue what no slot is free for (capacity first)', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    void yard.submitAll(ids(5));
    await yard.settle();
    expect(sent()).toEqual(['r1']);
    expect(yard.queue.depth).toBe(4);
  });

  it('sends equals in the order they came', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    const settled = yard.submitAll(ids(6));
    for (let n = 1; n <= 6; n++) (await yard.pool.received(n))[n - 1]!.answer();
    await Promise.all(settled);
    expect(sent()).toEqual(ids(6));
  });

  it('sends REALTIME before BATCH that came earlier, when both wait for the same slot', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    void yard.submit('running');
    await yard.pool.received(1);
    void yard.submitAll(['b1', 'b2']);
    void yard.submit('live', REALTIME);
    for (let n = 1; n <= 4; n++) (await yard.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['running', 'live', 'b1', 'b2']);
  });

  it('sends REALTIME at once to a worker full of BATCH, one group of it and no more', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 4, maxBatch: 2 });
    void yard.submitAll(ids(6));
    await yard.pool.received(4);
    void yard.submitAll(['live1', 'live2', 'live3'], REALTIME);
    await yard.settle();
    expect(sent()).toEqual([...ids(4), 'live1', 'live2']);
    expect(yard.pool.workers().map(({ slots }) => slots)).toEqual([{ total: 4, free: 0, inUse: 6 }]);
    const waiting = await Promise.all(['live3', 'r5'].map(id => yard.scheduler.findAnywhere(aRef(id))));
    expect(waiting.map(view => view?.waitsFor)).toEqual(['slot', 'slot']);
  });

  it('keeps BATCH within the slots also when all of it has aged, and overdraws them for REALTIME', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 2, maxBatch: 2 });
    void yard.submitAll(ids(5));
    await yard.pool.received(2);
    yard.clock.advance(30_001);
    void yard.submit('live', REALTIME);
    await yard.settle();
    expect(sent()).toEqual([...ids(2), 'live']);
    expect((await yard.scheduler.findAnywhere(aRef('r3')))?.waitsFor).toBe('slot');
    const before = yard.loop.turns;
    for (let i = 0; i < 100; i++) await yard.settle();
    expect(yard.loop.turns).toBe(before);
    for (let n = 1; n <= 6; n++) (await yard.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['r1', 'r2', 'live', 'r3', 'r4', 'r5']);
  });

  it('sends one BATCH request older than 30 s in four turns beside REALTIME, and counts its promotion once', async () => {
    void yard.submit('old');
    yard.clock.advance(30_001);
    void yard.submitAll(ids(4, 'live'), REALTIME);
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    for (let n = 1; n <= 5; n++) (await yard.pool.received(n))[n - 1]!.answer();
    expect(sent()).toEqual(['live1', 'live2', 'live3', 'old', 'live4']);
    expect(yard.of('promoted').map(({ requestId }) => requestId)).toEqual(['old']);
    expect(yard.types('old').slice(0, 3)).toEqual(['accepted', 'promoted', 'leased']);
  });

  it('counts a promotion once also when the aged request is sent again after its worker died', async () => {
    void yard.submit('old');
    yard.clock.advance(30_001);
    yard.pool.addWorker('a1', 'alpha');
    await yard.pool.received(1);
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    await yard.pool.received(2);
    expect(yard.types('old')).toEqual(['accepted', 'promoted', 'leased', 'requeued', 'leased']);
  });

  it('keeps sending for one model while the other has no worker', async () => {
    yard.pool.addWorker('b1', 'beta');
    void yard.submitAll(ids(3, 'dead'), REALTIME);
    void yard.submit('alive', { model: 'beta' });
    await yard.pool.received(1);
    expect(sent()).toEqual(['alive']);
  });

  it('frees a slot when the worker lets go, not when the answer is there', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    const [first] = yard.submitAll(['r1', 'r2']);
    const [call] = await yard.pool.received(1);
    call!.answerOnly();
    await first;
    await yard.settle();
    expect(sent()).toEqual(['r1']);
    call!.letGo();
    await yard.pool.received(2);
    expect(sent()).toEqual(['r1', 'r2']);
  });

  it('spreads requests over the workers of a model, least loaded first', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 4, maxBatch: 1 });
    yard.pool.addWorker('a2', 'alpha', { slots: 4, maxBatch: 1 });
    void yard.submitAll(ids(4));
    await yard.pool.received(4);
    expect([yard.pool.slotsInUse('a1'), yard.pool.slotsInUse('a2')]).toEqual([2, 2]);
  });

  it('keeps requests while all workers are away, and sends them when one is back', async () => {
    yard.pool.addWorker('a1', 'alpha');
    yard.pool.kill('a1');
    void yard.submitAll(ids(3));
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(0);
    expect(await yard.scheduler.findAnywhere(aRef('r1'))).toMatchObject({
      state: 'queued',
      position: 1,
      waitsFor: 'worker',
    });
    yard.clock.advance(60_000);
    yard.pool.addWorker('a1', 'alpha');
    await yard.pool.received(3);
    expect(sent()).toEqual(ids(3));
  });

  it('goes on when a subscriber of events throws', async () => {
    yard.bus.events$.subscribe(() => {
      throw new Error('a bad listener');
    });
    yard.pool.addWorker('a1', 'alpha');
    const settled = yard.submit('r1');
    (await yard.pool.received(1))[0]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('fails a request whose call cannot be started, and has its slot back', async () => {
    yard.pool.executeError = new Error('a defect');
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    const { settlement } = await yard.submit('r1');
    expect(settlement).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(yard.pool.slotsInUse('a1')).toBe(0);
  });

  it('settles all of a hundred requests exactly once, with no slot left taken', async () => {
    yard.pool.addWorker('a1', 'alpha', { slots: 7, maxBatch: 3 });
    const settled = yard.submitAll(ids(100));
    for (let n = 1; n <= 100; n++) {
      const call = (await yard.pool.received(n))[n - 1]!;
      if (n % 3 === 0) call.fail('engine_failed');
      else call.answer();
    }
    const statuses = (await Promise.all(settled)).map(({ settlement }) => settlement.status);
    expect(statuses.filter(status => status === 'failed')).toHaveLength(33);
    expect(yard.of('settled')).toHaveLength(100);
    await yard.settle();
    expect(yard.pool.slotsInUse('a1')).toBe(0);
  });
});
