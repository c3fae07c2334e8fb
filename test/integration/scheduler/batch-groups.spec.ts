import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ids, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('batch groups', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start();
  });
  afterEach(() => harness.stop());

  const groups = () => {
    const sizes = new Map<string, string[]>();
    for (const { group, id } of harness.pool.calls)
      sizes.set(group.id, [...(sizes.get(group.id) ?? []), id]);
    return [...sizes.values()];
  };

  it('sends eight BATCH requests to an idle worker as one group of 8, without waiting', async () => {
    harness.pool.addWorker('a1', 'alpha');
    void harness.submitAll(ids(8));
    const calls = await harness.pool.received(8);
    expect(new Set(calls.map(({ group }) => group.id)).size).toBe(1);
    expect(calls.every(({ group }) => group.size === 8)).toBe(true);
    expect(harness.of('leased').map(({ reason }) => reason)).toEqual(Array(8).fill('full'));
  });

  it('sends what there is when no further request came for the quiet gap', async () => {
    await harness.stop();
    // A machine that stands still for the usual 50 ms would let the window end first.
    harness = await SchedulerHarness.start({
      settings: { 'batching.window_ms': 60_000 },
    });
    harness.pool.addWorker('a1', 'alpha');
    void harness.submitAll(ids(3));
    await harness.pool.received(3);
    expect(groups()).toEqual([ids(3)]);
    expect(harness.of('leased').map(({ reason, groupSize }) => [reason, groupSize])).toEqual(
      Array(3).fill(['quiet', 3]),
    );
  });

  it('tells how long the window held a request back, as part of its queue wait', async () => {
    await harness.stop();
    // Longer than any pause of a busy machine: the window, not the machine, is what
    // is waited for.
    harness = await SchedulerHarness.start({
      settings: { 'batching.window_ms': 400, 'batching.quiet_gap_ms': 400 },
    });
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1');
    (await harness.pool.received(1))[0]!.answer();
    const { batchWaitMs, queueWaitMs } = (await settled).phases;
    expect(batchWaitMs).toBeGreaterThan(0);
    expect(batchWaitMs).toBeLessThanOrEqual(queueWaitMs!);
  });

  it('counts engine calls, not requests, in scheduler_batch_size', async () => {
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submitAll(ids(8));
    const calls = await harness.pool.received(8);
    // The worker computed them as five and three, whatever they were sent as.
    calls.slice(0, 5).forEach(call => call.answer({ batchSize: 5, batchId: 'one' }));
    calls.slice(5).forEach(call => call.answer({ batchSize: 3, batchId: 'two' }));
    await Promise.all(settled);
    expect(await scraped('scheduler_batch_size_count')).toBe(2);
    expect(await scraped('scheduler_batch_size_sum')).toBe(8);
  });
});
