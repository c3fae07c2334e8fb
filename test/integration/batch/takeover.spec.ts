import { appendFile, readdir } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { BatchYard, chatLine } from '../../support/batch-yard.js';
import { echoAnswer, TargetServer, type TargetCall } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `line-${index}`);
const slowly = async (call: TargetCall) => {
  await pause(5);
  return echoAnswer(call);
};
/** Lines that may be sent again: those in flight and those of one group commit. */
const ONE_CHECKPOINT = 10 + 64;

describe('a processor that ends', () => {
  it('by kill -9, three times: the next one goes on, no line is lost or twice in a file, few are sent again', async () => {
    await using target = await TargetServer.start(slowly);
    await using yard = await BatchYard.open({ settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': 600 } });
    const job = await yard.submit(ids(2000).map(id => chatLine(id)));
    for (const sent of [200, 700, 1300]) {
      const processor = yard.start();
      await yard.until(job.id, `${sent} lines sent`, () => target.calls.length >= sent);
      processor.child.kill('SIGKILL');
      await once(processor.child, 'exit');
    }
    yard.start();
    expect((await yard.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(yard, job.id, ids(2000));
    expect(target.calls.length).toBeLessThanOrEqual(2000 + 3 * ONE_CHECKPOINT);
  });

  it('by SIGTERM: lines in flight finish, the lease is released, another goes on at once and sends nothing twice', async () => {
    await using target = await TargetServer.start(slowly);
    await using yard = await BatchYard.open({
      settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': 60_000 },
    });
    const job = await yard.submit(ids(600).map(id => chatLine(id)));
    const first = yard.start();
    await yard.until(job.id, '100 lines sent', () => target.calls.length >= 100);
    first.child.kill('SIGTERM');
    expect(await once(first.child, 'exit')).toEqual([0, null]);
    yard.start();
    expect((await yard.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(yard, job.id, ids(600));
    expect(target.calls).toHaveLength(600);
  });

  it('in the middle of a write: the torn tail is cut off and the line computed again', async () => {
    await using target = await TargetServer.start(slowly);
    await using yard = await BatchYard.open({ settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': 600 } });
    const job = await yard.submit(ids(300).map(id => chatLine(id)));
    const first = yard.start();
    await yard.until(job.id, '100 lines sent', () => target.calls.length >= 100);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const results = join(yard.dataDir, 'jobs', job.id, 'results');
    const log = (await readdir(results)).find(name => name.endsWith('.log'))!;
    await appendFile(join(results, log), '299 O 3/2/0/0 {"id":"batch_req_torn","custom_id":"line-2');
    yard.start();
    expect((await yard.untilEnd(job.id)).status).toBe('completed');
    await expectWholeBatch(yard, job.id, ids(300));
  });
});

describe('two processors', () => {
  it('race for 6 batches: each is done by one of them, and no line is sent twice', async () => {
    await using target = await TargetServer.start();
    await using yard = await BatchYard.open({ settings: { 'batch.gateway_url': target.url, 'batch.jobs': 2 } });
    const jobs = [];
    for (let count = 0; count < 6; count++) jobs.push(await yard.submit(ids(50).map(id => chatLine(id))));
    yard.start();
    yard.start();
    for (const { id } of jobs) {
      expect((await yard.untilEnd(id)).status).toBe('completed');
      await expectWholeBatch(yard, id, ids(50));
    }
    expect(target.calls).toHaveLength(300);
  });

  it('one of them asleep for longer than its lease: the other finishes, and what the sleeper still does is refused', async () => {
    let hold = true;
    await using target = await TargetServer.start(async call => {
      while (hold && call.number > 50) await pause(10);
      return echoAnswer(call);
    });
    await using yard = await BatchYard.open({ settings: { 'batch.gateway_url': target.url, 'batch.lease_ms': 600 } });
    const job = await yard.submit(ids(200).map(id => chatLine(id)));
    const sleeper = yard.start();
    await yard.until(job.id, 'lines in flight', () => target.calls.length === 60);
    sleeper.child.kill('SIGSTOP');
    hold = false;
    yard.start();
    expect((await yard.untilEnd(job.id)).status).toBe('completed');
    sleeper.child.kill('SIGCONT');
    while (!(await sleeper.logTail()).includes('lease lost')) await pause(20);
    await expectWholeBatch(yard, job.id, ids(200));
    expect(target.calls.length).toBeLessThanOrEqual(200 + ONE_CHECKPOINT);
  });
});
