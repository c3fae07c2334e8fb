import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { SchedulerHarness } from '../../support/scheduler-harness.js';

const errorOf = async (settled: Promise<SettledRequest>): Promise<DomainError> =>
  ((await settled).settlement as { error: DomainError }).error;

describe('queue deadline', () => {
  let harness: SchedulerHarness;
  afterEach(() => harness.stop());

  it('wakes the loop by itself, once, and not again', async () => {
    harness = await SchedulerHarness.start({ settings: { 'queue.timeout_ms': 20 } });
    await errorOf(harness.submit('r1'));
    const before = harness.loop.turns;
    for (let i = 0; i < 100; i++) await harness.settle();
    expect(harness.loop.turns).toBe(before);
  });

  it('all workers down for 2 minutes, then back: a 503 after a wait of 120 s, all others served in order', async () => {
    harness = await SchedulerHarness.start();
    const first = harness.submit('at 0 s');
    harness.clock.advance(1000);
    const others = harness.submitAll(['at 1 s', 'at 1 s too']);
    harness.clock.advance(119_500);
    const last = harness.submit('at 120.5 s');
    await harness.settle();
    expect((await errorOf(first)).code).toBe('no_worker');

    harness.pool.addWorker('a1', 'alpha');
    harness.pool.poke('alpha');
    await harness.settle();
    harness.pool.calls.forEach(call => call.answer());

    expect(harness.pool.calls.map(({ request }) => request.id)).toEqual([
      'at 1 s',
      'at 1 s too',
      'at 120.5 s',
    ]);
    expect(
      (await Promise.all([...others, last])).map(({ settlement }) => settlement.status),
    ).toEqual(Array(3).fill('completed'));
  });
});

describe('inference deadline', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    const settings = {
      'inference.timeout_min_ms': 20,
      'batching.policy': 'none',
    } as const;
    harness = await SchedulerHarness.start({ settings });
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
  });
  afterEach(() => harness.stop());

  const short = { audioDurationS: 0.001 };

  it('keeps the slot taken until the worker lets go: never two at once on one slot', async () => {
    const first = harness.submit('r1', short);
    void harness.submit('r2');
    await errorOf(first);
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(1);
    harness.pool.calls[0]!.letGo();
    await harness.pool.received(2);
    expect(harness.pool.calls[1]!.id).toBe('r2');
  });

  it('is never retried', async () => {
    await errorOf(harness.submit('r1', short));
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(1);
  });

  it('does not run while the request waits behind others', async () => {
    // The one ahead runs into its own deadline, of the same length: by then the one
    // behind has waited for longer than its.
    const ahead = harness.submit('ahead', short);
    const behind = harness.submit('behind', short);
    await errorOf(ahead);
    harness.pool.calls[0]!.letGo();
    (await harness.pool.received(2))[1]!.answer();
    expect((await behind).settlement.status).toBe('completed');
  });

  it('grows with the audio: 2 x its duration', async () => {
    void harness.submit('r1', { audioDurationS: 3600 });
    const [call] = await harness.pool.received(1);
    expect(call!.request.inferenceTimeoutMs).toBe(7_200_000);
  });
});
