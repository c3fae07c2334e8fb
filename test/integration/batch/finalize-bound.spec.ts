import { describe, expect, it } from '@jest/globals';
import { type BatchJob } from '../../../src/core/jobs/batch-job.js';
import { BatchHarness, chatLine, TENANT } from '../../support/batch-harness.js';
import { type SettingOverrides } from '../../support/gateway-process.js';
import { S3Server } from '../../support/s3-server.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';

const LINES = Array.from({ length: 20 }, (_, index) => chatLine(`line-${index}`));

/** A batch whose bucket takes requests and answers none from its last line on. */
async function endAtHungStore(
  settings: SettingOverrides,
  meanwhile: (harness: BatchHarness, id: string) => Promise<unknown>,
) {
  await using s3 = await S3Server.start();
  await using target = await TargetServer.start();
  await using harness = await BatchHarness.openS3(s3, {
    'batch.gateway_url': target.url,
    'batch.checkpoint_ms': 200,
    ...settings,
  });
  const { id } = await harness.submit(LINES);
  target.answer(call => {
    if (call.number === LINES.length) s3.hang();
    return echoAnswer(call);
  });
  const processor = harness.start();
  await harness.until(id, 'finalizing', ({ status }) => status === 'finalizing');
  await meanwhile(harness, id);
  const job: BatchJob = await harness.untilEnd(id);
  processor.child.kill('SIGKILL');
  return job;
}

describe('a batch whose blob store does not return while its result files are made', () => {
  it('fails after batch.finalize_timeout_ms, and says why', async () => {
    const job = await endAtHungStore({ 'batch.finalize_timeout_ms': 1500 }, () =>
      Promise.resolve(),
    );
    expect(job).toMatchObject({
      status: 'failed',
      counts: { total: 20, completed: 20, failed: 0 },
      problems: [{ code: 'storage_unavailable' }],
    });
    expect(job.outputFileId).toBeUndefined();
  });

  it('can be cancelled, and ends within batch.grace_ms', async () => {
    const job = await endAtHungStore({ 'batch.grace_ms': 500 }, async (harness, id) => {
      expect(await harness.jobs.requestCancel(TENANT, id, Date.now())).toMatchObject({
        accepted: true,
      });
    });
    expect(job).toMatchObject({
      status: 'cancelled',
      problems: [{ code: 'storage_unavailable' }],
    });
  });
});
