import { once } from 'node:events';
import { mkdir, rename, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine, SHORT_LEASE_MS } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { S3Server } from '../../support/s3-server.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line-${index}`);

describe('an outage', () => {
  it('of the disk while lines are sent: dispatch stops, durable lines stay, the rest is sent afterwards', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(ids(400).map(id => chatLine(id)));
    const results = join(harness.dataDir, 'jobs', job.id, 'results');
    target.answer(async call => {
      // Before the first result is written: the log's file cannot be made. (Root may
      // write anywhere: the folder is moved.)
      if (call.number === 1) await rename(results, `${results}-aside`);
      return echoAnswer(call);
    });
    const processor = harness.start();
    await harness.until(job.id, 'lines sent', () => target.calls.length > 0);
    while (!(await processor.logTail()).includes('outage: the batch is retried')) await pause(20);
    expect(target.calls.length).toBeLessThan(400);
    expect((await harness.job(job.id)).status).toBe('in_progress');
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(harness, job.id, ids(400));
  });
});

describe('a damaged work folder', () => {
  it('whose input was cut short is filled again from the blob, and the batch goes on where it was', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    // More than is read ahead.
    const job = await harness.submit(ids(400).map(id => chatLine(id, 'm', id.padEnd(1000, '.'))));
    const input = join(harness.dataDir, 'jobs', job.id, 'input.jsonl');
    target.answer(async call => {
      if (call.number === 100) await truncate(input, 1000);
      return echoAnswer(call);
    });
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(harness, job.id, ids(400));
  });

  it('whose plan makes no sense ends the batch as failed, with the reason', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(ids(400).map(id => chatLine(id)));
    const plan = join(harness.dataDir, 'jobs', job.id, 'plans', 'm.plan');
    target.answer(async call => {
      await pause(5);
      return echoAnswer(call);
    });
    const first = harness.start();
    await harness.until(job.id, '50 lines', () => target.calls.length > 50);
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');
    await truncate(plan, 100);
    await harness.host();
    expect(await harness.untilEnd(job.id)).toMatchObject({
      status: 'failed',
      problems: [{ code: 'internal_error' }],
    });
  });
});

describe('processors that share a bucket and a database but no disk', () => {
  it('go on with one another’s batches: only lines since the last checkpoint are sent again', async () => {
    await using s3 = await S3Server.start();
    await using target = await TargetServer.start(async call => {
      await pause(5);
      return echoAnswer(call);
    });
    await using harness = await BatchHarness.openS3(s3, {
      'batch.gateway_url': target.url,
      'batch.checkpoint_ms': 100,
    });
    const job = await harness.submit(ids(600).map(id => chatLine(id)));
    const first = harness.start({ 'batch.lease_ms': SHORT_LEASE_MS });
    await harness.until(job.id, '300 lines', ({ counts }) => counts.completed >= 300);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const elsewhere = join(harness.folder, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(join(harness.dataDir, 'switchyard.db'), join(elsewhere, 'switchyard.db'));
    harness.start({ 'data.dir': elsewhere });
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(harness, job.id, ids(600));
    expect(target.calls.length).toBeLessThan(900);
    while ((await keysUnder(harness, 'jobs/')) > 0) await pause(20);
  });
});

async function keysUnder({ blobs }: BatchHarness, prefix: string): Promise<number> {
  let count = 0;
  for await (const _ of blobs.keys(prefix)) count += 1;
  return count;
}
