import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SchedulerHarness } from '../../support/scheduler-harness.js';

describe('tenants that share one model', () => {
  let harness: SchedulerHarness;
  beforeEach(async () => {
    harness = await SchedulerHarness.start({
      settings: { 'batching.policy': 'none' },
    });
  });
  afterEach(() => harness.stop());

  /** Tenants of the calls so far, in the order in which they were sent. */
  const sent = (): string => harness.pool.calls.map(({ request }) => request.tenant).join('');

  async function answerAll(deviceMs: (tenant: string) => number): Promise<void> {
    // The list grows while it is read.
    for (const call of harness.pool.calls) {
      call.answer({ deviceMs: deviceMs(call.request.tenant ?? '') });
      await harness.settle();
    }
  }

  it('are charged the device time that workers report: one that takes three times as much gets a third', async () => {
    const settled = [
      ...harness.submitAll(['a1', 'a2', 'a3'], { tenant: 'a' }),
      ...harness.submitAll(['b1', 'b2', 'b3', 'b4', 'b5'], { tenant: 'b' }),
    ];
    harness.pool.addWorker('w1', 'alpha', { slots: 1 });
    await harness.settle();
    await answerAll(tenant => (tenant === 'a' ? 30 : 10));
    await Promise.all(settled);
    expect(sent().slice(0, 6)).toMatch(/^abbb+/);
  });
});
