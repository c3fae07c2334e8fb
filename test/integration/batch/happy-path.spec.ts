import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

describe('main.batch', () => {
  it('runs 2,000 lines over 3 models: one answer each; counts, usage, files agree; work folder gone', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const ids = Array.from({ length: 2000 }, (_, index) => `line-${index}`);
    const job = await harness.submit(ids.map((id, index) => chatLine(id, `model-${index % 3}`)));
    await harness.host();
    const ended = await harness.untilEnd(job.id);
    expect(ended.status).toBe('completed');
    const { output } = await expectWholeBatch(harness, job.id, ids);
    expect(output).toHaveLength(2000);
    expect(target.calls).toHaveLength(2000);
    expect(target.peak).toBeLessThanOrEqual(30);
    expect(ended.usage).toMatchObject({ inputTokens: 6000, outputTokens: 4000 });
    // It goes right after the end; were it to stay, this would never end.
    while ((await readdir(join(harness.dataDir, 'jobs'))).length > 0) await pause(10);
    expect(target.calls[0]!.headers).toMatchObject({
      'x-priority': 'batch',
      'content-type': 'application/json',
    });
  });
});
