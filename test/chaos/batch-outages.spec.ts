import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../support/batch-harness.js';
import { expectWholeBatch } from '../support/batch-invariants.js';
import { type NodeProcess } from '../support/node-process.js';
import { PostgresServer } from '../support/postgres-server.js';
import { itWith } from '../support/requires.js';
import { S3Server } from '../support/s3-server.js';
import { SmallDisk } from '../support/small-disk.js';
import { echoAnswer, TargetServer, type TargetCall } from '../support/target-server.js';
import { pause } from '../support/waiting.js';

const IDS = Array.from({ length: 600 }, (_, index) => `line-${index}`);
/**
 * Lines that may be sent again after a hand-over: those in flight, and those of
 * one group commit.
 */
const ONE_CHECKPOINT = 10 + 64;
const LINES = IDS.map(id => chatLine(id));

const slowly = async (call: TargetCall) => {
  await pause(10);
  return echoAnswer(call);
};

async function untilLogged(processor: NodeProcess, ...texts: string[]): Promise<void> {
  let tail = '';
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await pause(20)) {
    tail = await processor.logTail();
    if (texts.some(text => tail.includes(text))) return;
  }
  throw new Error(`never logged: ${texts.join(', ')}\n${tail}`);
}

// A crash, a recovery and 600 lines, on a machine that does other things as well.

describe('a batch survives', () => {
  it.each([
    ['shorter than the lease: the same processor goes on', 5000],
    ['longer than the lease: it lets go, and claims again', 600],
  ])('a crash of the database %s', async (_, leaseMs) => {
    await using postgres = await PostgresServer.start();
    await using target = await TargetServer.start(slowly);
    await using harness = await BatchHarness.open({
      databaseUrl: postgres.createDatabase('batches'),
      settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': leaseMs },
    });
    const { id } = await harness.submit(LINES);
    const processor = harness.start();
    await harness.until(id, '100 lines sent', () => target.calls.length >= 100);
    await postgres.kill();
    await untilLogged(processor, 'heartbeat failed', 'lease lost');
    if (leaseMs < 1000) await untilLogged(processor, 'lease lost');
    await postgres.launch();
    expect((await harness.untilEnd(id)).status).toBe('completed');
    await expectWholeBatch(harness, id, IDS);
    const { epoch } = await harness.lease(id);
    expect(target.calls.length).toBeLessThanOrEqual(IDS.length + (epoch - 1) * ONE_CHECKPOINT);
    expect(processor.child.exitCode).toBeNull();
  });

  it('an S3 outage while its files are made, and the death of its processor: made once, none sent again', async () => {
    await using s3 = await S3Server.start();
    await using target = await TargetServer.start();
    // The default of 15 s would only be waited for.
    await using harness = await BatchHarness.openS3(s3, {
      'batch.gateway_url': target.url,
      'batch.lease_ms': 600,
    });
    const { id } = await harness.submit(LINES);
    target.answer(async call => {
      if (call.number === IDS.length) await s3.kill();
      return echoAnswer(call);
    });
    const first = harness.start();
    await untilLogged(first, 'outage: the batch is retried');
    expect((await harness.job(id)).status).toBe('finalizing');
    first.child.kill('SIGKILL');
    const second = harness.start();
    await untilLogged(second, 'outage: the batch is retried');
    await s3.launch();
    expect((await harness.untilEnd(id)).status).toBe('completed');
    await expectWholeBatch(harness, id, IDS);
    expect(target.calls).toHaveLength(IDS.length);
  });

  itWith({ name: 'permission to mount', present: SmallDisk.canMount(), ofMachine: true })(
    'a full disk while lines are sent (ENOSPC): it finishes when there is room',
    async () => {
      using disk = SmallDisk.mount();
      await using target = await TargetServer.start();
      // A lease that ends while the disk is full; the default of 15 s would outlast it.
      await using harness = await BatchHarness.open({
        dataDir: disk.path,
        settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': 1000 },
      });
      const { id } = await harness.submit(LINES);
      target.answer(async call => {
        if (call.number === 200) await disk.fill();
        await pause(5);
        return echoAnswer(call);
      });
      const processor = harness.start();
      await untilLogged(processor, 'ENOSPC', 'database or disk is full');
      expect((await harness.job(id)).status).toBe('in_progress');
      await disk.makeRoom();
      expect((await harness.untilEnd(id)).status).toBe('completed');
      await expectWholeBatch(harness, id, IDS);
    },
  );
});
