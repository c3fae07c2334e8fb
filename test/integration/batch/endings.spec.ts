import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine, SHORT_LEASE_MS, TENANT } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';
import { pause } from '../../support/waiting.js';

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line-${index}`);
interface BadLine {
  readonly custom_id: string | null;
  readonly error: { readonly code: string; readonly line: number };
}

const never = new Promise<never>(() => undefined);

describe('a batch that is cancelled', () => {
  it('keeps what is done; the rest is batch_cancelled, lines that overstay the grace included', async () => {
    await using target = await TargetServer.start(call =>
      call.number <= 30 ? echoAnswer(call) : never,
    );
    await using harness = await BatchHarness.towards(target, {
      'batch.grace_ms': 300,
      'batch.lease_ms': SHORT_LEASE_MS,
    });
    const job = await harness.submit(ids(200).map(id => chatLine(id)));
    await harness.host();
    await harness.until(job.id, '30 lines', ({ counts }) => counts.completed === 30);
    expect(await harness.jobs.requestCancel(TENANT, job.id, Date.now())).toMatchObject({
      accepted: true,
    });
    expect((await harness.untilEnd(job.id)).status).toBe('cancelled');
    const { output, errors } = await expectWholeBatch(harness, job.id, ids(200));
    expect(output).toHaveLength(30);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['batch_cancelled']));
    expect(target.calls).toHaveLength(40);
  });

  it('before any processor saw it: every line is batch_cancelled and none is sent', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(ids(20).map(id => chatLine(id)));
    await harness.jobs.requestCancel(TENANT, job.id, Date.now());
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('cancelled');
    const { errors } = await expectWholeBatch(harness, job.id, ids(20));
    expect(errors).toHaveLength(20);
    expect(target.calls).toHaveLength(0);
  });

  it('while lines are in flight: those that finish within the grace are kept', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>(resolve => (open = resolve));
    await using target = await TargetServer.start(async call => {
      await gate;
      return echoAnswer(call);
    });
    await using harness = await BatchHarness.towards(target, { 'batch.lease_ms': SHORT_LEASE_MS });
    const job = await harness.submit(ids(50).map(id => chatLine(id)));
    await harness.host();
    await harness.until(job.id, 'lines in flight', () => target.calls.length === 10);
    await harness.jobs.requestCancel(TENANT, job.id, Date.now());
    // The first heartbeat after the cancel sees it; the second comes when it was acted on.
    for (let beats = 0; beats < 2; beats += 1) {
      const { untilMs } = await harness.lease(job.id);
      while ((await harness.lease(job.id)).untilMs === untilMs) await pause(20);
    }
    open();
    expect((await harness.untilEnd(job.id)).status).toBe('cancelled');
    const { output } = await expectWholeBatch(harness, job.id, ids(50));
    expect(output).toHaveLength(10);
    expect(target.calls).toHaveLength(10);
  });
});

describe('a batch whose window closes', () => {
  it('expires with what is done; the rest is batch_expired', async () => {
    let answered = 0;
    await using target = await TargetServer.start(call =>
      ++answered <= 20 ? echoAnswer(call) : never,
    );
    await using harness = await BatchHarness.towards(target, { 'batch.grace_ms': 200 });
    const job = await harness.submit(
      ids(100).map(id => chatLine(id)),
      { windowMs: 3000 },
    );
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('expired');
    const { output, errors } = await expectWholeBatch(harness, job.id, ids(100));
    expect(output).toHaveLength(Math.min(20, answered));
    expect(
      errors.every(({ error, response }) => error?.code === 'batch_expired' && response === null),
    ).toBe(true);
  });

  it('before a processor came: nothing is sent, and every line says so', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const createdAtMs = Date.now() - 10_000;
    const job = await harness.submit(
      ids(10).map(id => chatLine(id)),
      { createdAtMs, expiresAtMs: createdAtMs + 5000 },
    );
    await harness.host();
    const ended = await harness.untilEnd(job.id);
    expect(ended.status).toBe('expired');
    expect(ended.reachedAtMs.in_progress).toBeUndefined();
    await expectWholeBatch(harness, job.id, ids(10));
    expect(target.calls).toHaveLength(0);
  });
});

describe('a batch with bad input', () => {
  const bad = [
    chatLine('a'),
    'not json',
    '',
    chatLine('a'),
    chatLine('b').replace('POST', 'GET'),
    chatLine('c'),
  ];

  it('fails with line numbers, and nothing is sent', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(bad);
    await harness.host();
    const ended = await harness.untilEnd(job.id);
    expect(ended).toMatchObject({
      status: 'failed',
      counts: { total: 0, completed: 0, failed: 0 },
    });
    expect(ended.problems.map(({ code, line }) => [line, code])).toEqual([
      [2, 'invalid_json_line'],
      [4, 'duplicate_custom_id'],
      [5, 'invalid_method'],
    ]);
    expect(target.calls).toHaveLength(0);
  });

  it('lenient: the good lines run, each bad one is a line of the error file', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(bad, { metadata: { validation: 'lenient' } });
    await harness.host();
    const ended = await harness.untilEnd(job.id);
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { total: 5, completed: 2, failed: 3 },
    });
    const errors = (await harness.lines(ended.errorFileId)).map(
      line => JSON.parse(line) as BadLine,
    );
    expect(errors.map(({ custom_id, error }) => [custom_id, error.code, error.line])).toEqual([
      [null, 'invalid_json_line', 2],
      ['a', 'duplicate_custom_id', 4],
      ['b', 'invalid_method', 5],
    ]);
  });

  it('fails with a reason when the file is empty, or has blank lines only', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const jobs = [
      await harness.submit([]),
      await harness.submit(['', '  ']),
      await harness.submit([], { metadata: { validation: 'lenient' } }),
    ];
    await harness.host();
    for (const { id } of jobs)
      expect(await harness.untilEnd(id)).toMatchObject({
        status: 'failed',
        problems: [{ code: 'empty_file', line: null }],
      });
  });

  it('fails with a reason when its file is gone', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit([chatLine('a')]);
    await harness.files.remove(TENANT, job.inputFileId);
    await harness.host();
    expect(await harness.untilEnd(job.id)).toMatchObject({
      status: 'failed',
      problems: [{ code: 'input_file_missing' }],
    });
  });
});
