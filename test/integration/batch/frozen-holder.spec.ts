import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine, TENANT } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import {
  FREEZABLE,
  type FreezePoint,
  freezeAt,
  thaw,
  untilFrozen,
} from '../../support/frozen-process.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const IDS = Array.from(
  { length: 40 },
  (_, index) => `${index % 5 === 0 ? 'bad' : 'good'}-${index}`,
);
/** The update that writes the instant of this status, as the hook sees its parameters. */
const FINALIZING = '^update .*finalizing\\\\":\\d';

describe('a processor frozen while it ends a batch, whose successor has made the output file when it continues', () => {
  // Operations of the end, in their order; the first one used to read which files an
  // earlier holder had made, and removed them.
  it.each<[string, FreezePoint]>([
    [
      'its first operation after the status',
      { after: FINALIZING, at: '^(readFile|rename|open|rm|select .*"files")' },
    ],
    ['the bytes of the output file get their name', { after: FINALIZING, at: '^rename ', nth: 1 }],
    ['the row of the output file', { after: FINALIZING, at: 'insert into "files"' }],
    [
      'the transaction that ends the batch',
      { after: 'insert into "files".*_error.jsonl', at: '^begin' },
    ],
  ])('frozen before %s: it removes and adds nothing', async (_, point) => {
    await using target = await TargetServer.start(call =>
      call.body.includes('bad') ? { status: 400, body: '{"error":{}}' } : echoAnswer(call),
    );
    await using harness = await BatchHarness.towards(target);
    const sleeper = harness.start({ 'batch.lease_ms': 2000 }, FREEZABLE);
    await freezeAt(sleeper, point);
    const { id } = await harness.submit(IDS.map(line => chatLine(line)));
    await untilFrozen(sleeper);
    const successor = harness.start({ 'batch.lease_ms': 60_000 }, FREEZABLE);
    await freezeAt(successor, { at: 'insert into "files".*_error.jsonl' });
    await untilFrozen(successor);
    thaw(sleeper);
    while (!(await sleeper.logTail()).includes('lease lost')) await pause(20);
    thaw(successor);
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { output, errors, job } = await expectWholeBatch(harness, id, IDS);
    expect([output.length, errors.length]).toEqual([32, 8]);
    const made = await harness.files.list(TENANT, {
      limit: 100,
      purpose: 'batch_output',
      order: 'asc',
    });
    expect(made!.data.map(file => file.id)).toEqual([job.outputFileId, job.errorFileId]);
  });
});

describe('a processor killed between the audio file of a line and the result that names it', () => {
  it('leaves no file behind: its successor speaks the line again, and a line names every remaining file', async () => {
    const audio = {
      headers: { 'content-type': 'audio/mpeg' },
      body: Buffer.from('sound'),
    };
    await using target = await TargetServer.start(() => audio);
    await using harness = await BatchHarness.towards(target, { 'batch.lease_ms': 600 });
    const first = harness.start({}, FREEZABLE);
    await freezeAt(first, { at: '^open .*results/.*log$' });
    const speech = IDS.slice(0, 8).map(id =>
      chatLine(id).replace('/v1/chat/completions', '/v1/audio/speech'),
    );
    const { id } = await harness.submit(speech, { endpoint: '/v1/audio/speech' });
    await untilFrozen(first);
    const made = async () =>
      (await harness.files.list(TENANT, { limit: 100, purpose: 'batch_output' }))!.data;
    expect((await made()).length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await harness.host();
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { output, job } = await expectWholeBatch(harness, id, IDS.slice(0, 8));
    const named = output.map(({ response }) => (response!.body as { file_id: string }).file_id);
    expect((await made()).map(file => file.id).sort()).toEqual([...named, job.outputFileId].sort());
  });
});

describe('a processor that starts', () => {
  it('leaves the folder of a batch that another has just begun to read, and removes one of nobody', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const { id } = await harness.submit([chatLine('a')]);
    await harness.claims.claim('another', 600_000);
    const jobs = join(harness.dataDir, 'jobs');
    for (const name of [id, 'batch_nobodys'])
      await mkdir(join(jobs, name, 'results'), { recursive: true });
    await harness.start().message('ready');
    while ((await readdir(jobs)).length > 1) await pause(20);
    expect(await readdir(jobs)).toEqual([id]);
  });
});
