import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

describe('webhooks', () => {
  it('tell the end of a batch, signed as Standard Webhooks says', async () => {
    const secret = Buffer.alloc(24, 5);
    await using target = await TargetServer.start();
    await using receiver = await TargetServer.start(() => ({ status: 204 }));
    const host = new URL(receiver.url).host;
    await using harness = await BatchHarness.towards(target, { 'batch.webhook_allow_hosts': host });
    const secretFile = join(harness.folder, 'secret');
    await writeFile(secretFile, `whsec_${secret.toString('base64')}\n`);
    const job = await harness.submit([chatLine('a')], {
      webhook: { url: `${receiver.url}/hook` },
    });
    await harness.host({ 'batch.webhook_secret_file': secretFile });
    await harness.untilEnd(job.id);
    while (receiver.calls.length === 0) await pause(20);
    const { path, headers, body } = receiver.calls[0]!;
    expect(path).toBe('/hook');
    expect(JSON.parse(body.toString())).toMatchObject({
      object: 'event',
      type: 'batch.completed',
      data: { id: job.id },
    });
    const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body.toString()}`;
    const expected = createHmac('sha256', secret).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  });

  it.each([
    ['to an inner address that is not allowed are given up', 'inner', 'webhook given up'],
    ['to a name that is not found now are sent again', 'unknown', 'webhook failed; will retry'],
  ])('%s', async (_, where, said) => {
    await using target = await TargetServer.start();
    await using receiver = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit([chatLine('a')], {
      webhook: { url: where === 'inner' ? receiver.url : 'https://nobody.invalid/hook' },
    });
    const secretFile = join(harness.folder, 'secret');
    await writeFile(secretFile, 'a secret of enough bytes');
    const processor = harness.start({ 'batch.webhook_secret_file': secretFile });
    await harness.untilEnd(job.id);
    while (!(await processor.logTail()).includes('webhook ')) await pause(20);
    expect(await processor.logTail()).toContain(said);
    expect(receiver.calls).toHaveLength(0);
  });
});
