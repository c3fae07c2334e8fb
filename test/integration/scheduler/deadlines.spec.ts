import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../../src/core/shared/domain-error.js';
import { type SettledRequest } from '../../../src/gateway/scheduler/submitted-request.js';
import { SchedulerHarness } from '../../support/scheduler-harness.js';
import { aRef } from '../../support/requests.js';

const errorOf = async (settled: Promise<SettledRequest>): Promise<DomainError> =>
  ((await settled).settlement as { error: DomainError }).error;

describe('queue deadline', () => {
  let yard: SchedulerHarness;
  afterEach(() => yard.stop());

  it('fails with no_worker (503) and a Retry-After when no worker of the model is up', async () => {
    yard = await SchedulerHarness.start({ settings: { 'queue.timeout_ms': 20 } });
    yard.pool.addWorker('b1', 'beta');
    const error = await errorOf(yard.submit('r1'));
    expect([error.code, error.definition.status]).toEqual(['no_worker', 503]);
    expect(error.retryAfterMs).toBe(10_000);
  });

  it('fails with queue_timeout (503) and a Retry-After when no slot became free', async () => {
    yard = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
    void yard.submit('running');
    await yard.settle();
    const waiting = yard.submit('r1');
    yard.clock.advance(120_001);
    yard.pool.poke('alpha');
    const error = await errorOf(waiting);
    expect([error.code, error.definition.status]).toEqual(['queue_timeout', 503]);
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(1000);
    expect(yard.scheduler.find(aRef('running'))?.state).toBe('running');
  });

  it('wakes the loop by itself, once, and not again', async () => {
    yard = await SchedulerHarness.start({ settings: { 'queue.timeout_ms': 20 } });
    await errorOf(yard.submit('r1'));
    const before = yard.loop.turns;
    for (let i = 0; i < 100; i++) await yard.settle();
    expect(yard.loop.turns).toBe(before);
  });

  it('is out of the queue, and the ones behind it go on waiting', async () => {
    yard = await SchedulerHarness.start();
    const first = yard.submit('r1');
    yard.clock.advance(100_000);
    void yard.submit('r2');
    yard.clock.advance(20_001);
    yard.pool.poke('alpha');
    expect((await errorOf(first)).code).toBe('no_worker');
    expect((await yard.scheduler.list()).map(({ id }) => id)).toEqual(['r2']);
  });

  it('all workers down for 2 minutes, then back: who waited 120 s has had its 503, all others are served in order', async () => {
    yard = await SchedulerHarness.start();
    const first = yard.submit('at 0 s');
    yard.clock.advance(1000);
    const others = yard.submitAll(['at 1 s', 'at 1 s too']);
    yard.clock.advance(119_500);
    const last = yard.submit('at 120.5 s');
    await yard.settle();
    expect((await errorOf(first)).code).toBe('no_worker');

    yard.pool.addWorker('a1', 'alpha');
    yard.pool.poke('alpha');
    await yard.settle();
    yard.pool.calls.forEach(call => call.answer());

    expect(yard.pool.calls.map(({ request }) => request.id)).toEqual(['at 1 s', 'at 1 s too', 'at 120.5 s']);
    expect((await Promise.all([...others, last])).map(({ settlement }) => settlement.status)).toEqual(
      Array(3).fill('completed'),
    );
  });
});

describe('inference deadline', () => {
  let yard: SchedulerHarness;

  beforeEach(async () => {
    const settings = { 'inference.timeout_min_ms': 20, 'batching.policy': 'none' } as const;
    yard = await SchedulerHarness.start({ settings });
    yard.pool.addWorker('a1', 'alpha', { slots: 1 });
  });
  afterEach(() => yard.stop());

  const short = { audioDurationS: 0.001 };

  it('answers with inference_timeout (504) and tells the worker to stop', async () => {
    const error = await errorOf(yard.submit('r1', short));
    expect([error.code, error.definition.status]).toEqual(['inference_timeout', 504]);
    expect(yard.pool.cancels).toEqual([{ workerId: 'a1', requestId: 'r1', reason: 'deadline' }]);
  });

  it('keeps the slot taken until the worker lets go: never two at once on one slot', async () => {
    const first = yard.submit('r1', short);
    void yard.submit('r2');
    await errorOf(first);
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(1);
    yard.pool.calls[0]!.letGo();
    await yard.pool.received(2);
    expect(yard.pool.calls[1]!.id).toBe('r2');
  });

  it('is never retried', async () => {
    await errorOf(yard.submit('r1', short));
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(1);
  });

  it('does not run while the request waits behind others', async () => {
    // The one ahead runs into its own deadline, of the same length: by then the one behind has waited for longer than its.
    const ahead = yard.submit('ahead', short);
    const behind = yard.submit('behind', short);
    await errorOf(ahead);
    yard.pool.calls[0]!.letGo();
    (await yard.pool.received(2))[1]!.answer();
    expect((await behind).settlement.status).toBe('completed');
  });

  it('grows with the audio: 2 x its duration', async () => {
    void yard.submit('r1', { audioDurationS: 3600 });
    const [call] = await yard.pool.received(1);
    expect(call!.request.inferenceTimeoutMs).toBe(7_200_000);
  });
});
