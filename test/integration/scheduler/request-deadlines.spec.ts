import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WantedDeadline } from '../../../src/core/queue/latest-start.js';
import { REALTIME, request, SchedulerHarness } from '../../support/scheduler-harness.js';

const within = (ms: number, until: WantedDeadline['until'] = 'answer') => ({
  deadlines: [{ until, withinMs: ms, leftMs: ms }],
});

describe('deadlines of requests (D-26)', () => {
  let harness: SchedulerHarness;
  beforeEach(async () => {
    harness = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    harness.pool.addWorker('w1', 'alpha', { slots: 1, overdraft: 0 });
  });
  afterEach(() => harness.stop());

  /** Answers the latest call when it took so long. */
  async function answerAfter(ms: number, call = harness.pool.calls.at(-1)!): Promise<void> {
    harness.clock.advance(ms);
    call.answer();
    await harness.settle();
  }

  /** The worker has taken 5 s for the one request that it had. */
  async function learned(): Promise<void> {
    void harness.submit('first');
    await harness.pool.received(1);
    await answerAfter(5000);
  }

  it('are refused at once with the estimate when the answer takes longer, and accepted when not', async () => {
    await learned();
    await expect(async () => harness.submit('short', within(4000))).rejects.toMatchObject({
      code: 'deadline_unreachable',
      message: expect.stringMatching(
        /^The answer, wanted within 4000 ms, would take about 5\d\d\d ms \(0 ms until/,
      ),
    });
    expect(harness.types('short')).toEqual(['rejected']);
    const settled = harness.submit('long', within(30_000));
    await harness.pool.received(2);
    await answerAfter(1000);
    expect((await settled).settlement.status).toBe('completed');
    expect(harness.of('settled').map(({ metDeadline }) => metDeadline)).toEqual([undefined, true]);
  });

  it('know that an answer was late', async () => {
    const settled = harness.submit('late', within(4000));
    await harness.pool.received(1);
    await answerAfter(5000);
    expect((await settled).settlement.status).toBe('completed');
    expect(harness.of('settled').map(({ metDeadline }) => metDeadline)).toEqual([false]);
  });

  it.each([1000, 4500])(
    'for the first output are judged by it, not by the answer: after %s ms',
    async ms => {
      const record = harness.intake.submit({
        ...request('s'),
        ...within(4000, 'first_output'),
      });
      await harness.pool.received(1);
      harness.clock.advance(ms);
      record.firstOutputAtMs = harness.clock.nowMs();
      harness.clock.advance(5000);
      await answerAfter(0);
      expect((await record.settled).settlement.status).toBe('completed');
      expect(harness.of('settled').map(({ metDeadline }) => metDeadline)).toEqual([ms < 4000]);
    },
  );

  it('end in the queue without costing device time when it is too late to start', async () => {
    await learned();
    void harness.submit('running');
    await harness.pool.received(2);
    const settled = harness.submit('waits', within(30_000));
    await answerAfter(26_000);
    const { settlement, attempts } = await settled;
    expect(settlement).toMatchObject({
      status: 'failed',
      error: { code: 'deadline_missed' },
    });
    expect([attempts, harness.pool.calls.length]).toEqual([0, 2]);
  });

  // Of tenants that had the same share, the one whose next request is older goes first.
  it('order the requests of a tenant; those without one keep their order, and other tenants their turns', async () => {
    void harness.submit('running', { ...REALTIME, tenant: 'c' });
    await harness.pool.received(1);
    void harness.submitAll(['a1', 'a2'], { tenant: 'a' });
    void harness.submitAll(['b1', 'b2'], { tenant: 'b' });
    void harness.submit('a3', { tenant: 'a', ...within(20_000) });
    void harness.submit('a4', { tenant: 'a', ...within(10_000) });
    void harness.submit('a5', { tenant: 'a', ...within(100_000, 'window') });
    for (let served = 1; served <= 7; served += 1) {
      const calls = await harness.pool.received(served);
      await answerAfter(0, calls.at(-1));
    }
    await harness.pool.received(8);
    expect(harness.pool.calls.map(({ id }) => id)).toEqual([
      'running',
      'b1',
      'a4',
      'b2',
      'a3',
      'a1',
      'a2',
      'a5',
    ]);
  });

  it('hold again after the worker was lost: no time is added to them', async () => {
    harness.pool.addWorker('w2', 'alpha', { slots: 1, overdraft: 0 });
    const settled = harness.submit('r', within(10_000));
    const [call] = await harness.pool.received(1);
    harness.clock.advance(11_000);
    harness.pool.kill(call!.workerId);
    expect((await settled).settlement).toMatchObject({
      status: 'failed',
      error: { code: 'deadline_missed' },
    });
    expect(harness.pool.calls).toHaveLength(1);
  });
});
