import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const lines = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, index) => chatLine(`${name}-${index}`));

describe('a tenant that fills all slots for batches', () => {
  it('gives one to another that has none: its 50 lines end while the others run, and none is sent twice', async () => {
    let isOver = false;
    await using target = await TargetServer.start(async call => {
      if (call.body.includes('many-')) await pause(isOver ? 0 : 50);
      return echoAnswer(call);
    });
    await using harness = await BatchHarness.towards(target, { 'batch.jobs': 2 });
    const many = [];
    for (const name of ['many-a', 'many-b', 'many-c'])
      many.push(await harness.submit(lines(1000, name)));
    await harness.host();
    await harness.until(many[1]!.id, 'both slots taken', ({ counts }) => counts.completed > 0);
    const few = await harness.submit(lines(50, 'few'), { tenant: 'other' });
    while ((await harness.job(few.id, 'other')).status !== 'completed') await pause(20);
    for (const { id } of many) expect((await harness.job(id)).status).not.toBe('completed');
    isOver = true;
    for (const { id } of many) expect((await harness.untilEnd(id)).counts.completed).toBe(1000);
    expect(target.calls).toHaveLength(3050);
  });
});
