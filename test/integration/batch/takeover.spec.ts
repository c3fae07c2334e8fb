import { once } from 'node:events';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine, SHORT_LEASE_MS } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { echoAnswer, TargetServer, type TargetCall } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line-${index}`);
const slowly = async (call: TargetCall) => {
  await pause(5);
  return echoAnswer(call);
};

describe('a processor that ends', () => {
  it('by SIGTERM: lines in flight finish, lease released; another continues at once, none sent twice', async () => {
    await using target = await TargetServer.start(slowly);
    await using harness = await BatchHarness.towards(target, { 'batch.lease_ms': 60_000 });
    const job = await harness.submit(ids(600).map(id => chatLine(id)));
    const first = harness.start();
    await harness.until(job.id, '100 lines sent', () => target.calls.length >= 100);
    first.child.kill('SIGTERM');
    expect(await once(first.child, 'exit')).toEqual([0, null]);
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(harness, job.id, ids(600));
    expect(target.calls).toHaveLength(600);
  });

  it('in the middle of a write: the torn tail is cut off and the line computed again', async () => {
    await using target = await TargetServer.start(slowly);
    await using harness = await BatchHarness.towards(target, { 'batch.lease_ms': SHORT_LEASE_MS });
    const job = await harness.submit(ids(300).map(id => chatLine(id)));
    const first = harness.start();
    await harness.until(job.id, '100 lines sent', () => target.calls.length >= 100);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const results = join(harness.dataDir, 'jobs', job.id, 'results');
    const log = (await readdir(results)).find(name => name.endsWith('.log'))!;
    await appendFile(
      join(results, log),
      '299 O 3/2/0/0 {"id":"batch_req_torn","custom_id":"line-2',
    );
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(harness, job.id, ids(300));
  });
});

describe('two processors', () => {
  it('race for 6 batches: each is done by one of them, and no line is sent twice', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target, { 'batch.jobs': 2 });
    const jobs = [];
    for (let count = 0; count < 6; count++)
      jobs.push(await harness.submit(ids(50).map(id => chatLine(id))));
    harness.start();
    harness.start();
    for (const { id } of jobs) {
      expect((await harness.untilEnd(id)).status).toBe('completed');
      await expectWholeBatch(harness, id, ids(50));
    }
    expect(target.calls).toHaveLength(300);
  });
});
