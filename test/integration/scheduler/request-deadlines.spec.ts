import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WantedDeadline } from '../../../src/core/queue/latest-start.js';
import { request, SchedulerHarness } from '../../support/scheduler-harness.js';

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
      record.wrote(harness.clock.nowMs());
      harness.clock.advance(5000);
      await answerAfter(0);
      expect((await record.settled).settlement.status).toBe('completed');
      expect(harness.of('settled').map(({ metDeadline }) => metDeadline)).toEqual([ms < 4000]);
    },
  );

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
