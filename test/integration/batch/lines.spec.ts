import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line-${index}`);

describe('the lines of a batch', () => {
  it('are tried again after 429, 500 and a broken connection, and succeed', async () => {
    const seen = new Map<string, number>();
    await using target = await TargetServer.start(call => {
      const key = call.body.toString();
      const attempt = (seen.get(key) ?? 0) + 1;
      seen.set(key, attempt);
      if (attempt === 1) return { status: 429, headers: { 'retry-after-ms': '30' } };
      if (attempt === 2) return { status: 500, body: '{"error":{}}' };
      return attempt === 3 ? { reset: true } : echoAnswer(call);
    });
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(ids(20).map(id => chatLine(id)));
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    const { output } = await expectWholeBatch(harness, job.id, ids(20));
    expect(output).toHaveLength(20);
    expect(target.calls).toHaveLength(80);
  });

  it('without a good answer are error lines: a status with its body, a lost connection with a code', async () => {
    await using target = await TargetServer.start(call => {
      if (call.body.includes('bad')) return { status: 400, body: '{"error":{"code":"nope"}}' };
      return call.body.includes('lost') ? { reset: true } : { status: 500, body: 'not json' };
    });
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(['bad', 'lost', 'worse'].map(id => chatLine(id)));
    await harness.host();
    await harness.untilEnd(job.id);
    const { errors } = await expectWholeBatch(harness, job.id, ['bad', 'lost', 'worse']);
    const of = (id: string) => errors.find(({ custom_id }) => custom_id === id);
    expect(of('bad')).toMatchObject({
      response: { status_code: 400, body: { error: { code: 'nope' } } },
      error: null,
    });
    expect(of('lost')).toMatchObject({
      response: null,
      error: { code: 'connection_lost' },
    });
    expect(of('worse')).toMatchObject({
      response: { status_code: 500, body: 'not json' },
      error: null,
    });
    // The first broken connection is nobody's fault yet.
    expect(target.calls).toHaveLength(1 + 5 + 4);
  });

  it('that time out are not sent again', async () => {
    await using target = await TargetServer.start(() => new Promise(() => undefined));
    await using harness = await BatchHarness.towards(target, { 'batch.request_timeout_ms': 200 });
    const job = await harness.submit([chatLine('a')]);
    await harness.host();
    await harness.untilEnd(job.id);
    const { errors } = await expectWholeBatch(harness, job.id, ['a']);
    expect(errors[0]).toMatchObject({
      response: null,
      error: { code: 'request_timeout' },
    });
    expect(target.calls).toHaveLength(1);
  });

  it('of a model that no target lists are model_not_found; others go to their own target with its key', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.open();
    const [file, key] = [join(harness.folder, 'targets.yaml'), join(harness.folder, 'key')];
    await writeFile(key, 'sk-target\n');
    const entry =
      `{ url: "${target.url}", request_timeout: 30s, max_retries: 1, ` +
      `initial_backoff: 10ms, max_backoff: 1s, api_key_file: "${key}" }`;
    await writeFile(file, `model_gateways:\n  known: ${entry}\n`);
    const job = await harness.submit([chatLine('a', 'known'), chatLine('b', 'unknown')]);
    await harness.host({ 'batch.targets_file': file });
    await harness.untilEnd(job.id);
    const { output, errors } = await expectWholeBatch(harness, job.id, ['a', 'b']);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['a']);
    expect(errors[0]).toMatchObject({
      custom_id: 'b',
      response: null,
      error: { code: 'model_not_found' },
    });
    expect(target.calls[0]!.headers.authorization).toBe('Bearer sk-target');
  });

  it('arrive byte for byte: big integers, blanks, unicode, parts, deep nesting, 5 MB; after BOM and CRLF', async () => {
    const deep = '['.repeat(400) + ']'.repeat(400);
    const bodies = [
      '{"model":"m", "seed": 12345678901234567890123, "x":1.0e+2,' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"\\u00e9é"}]}]}',
      `{"model":"m","messages":[],"deep":${deep}}`,
      `{"model":"m","messages":[{"role":"user","content":"${'ä'.repeat(2_500_000)}"}]}`,
    ];
    const lines = bodies.map(
      (body, index) =>
        `{"custom_id":"c${index}","method":"POST","url":"/v1/chat/completions","body":  ${body} }`,
    );
    const answer =
      '{\n  "big": 98765432109876543210,\n  "usage": {"prompt_tokens": 1, "completion_tokens": 1}\n}';
    await using target = await TargetServer.start(() => ({ body: answer }));
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(Buffer.from(`\ufeff${lines.join('\r\n')}`));
    await harness.host();
    const ended = await harness.untilEnd(job.id);
    expect(ended).toMatchObject({
      status: 'completed',
      counts: { completed: 3 },
      model: 'm',
    });
    expect(target.calls.map(({ body }) => body.toString()).sort()).toEqual([...bodies].sort());
    for (const line of await harness.lines(ended.outputFileId))
      expect(line).toContain('"big": 98765432109876543210');
  });

  it('with equal system prompts are sent together, those without one last', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target, { 'batch.concurrency_per_model': 1 });
    const line = (id: string, system?: string): string =>
      chatLine(id).replace(
        '"messages":[',
        system ? `"messages":[{"role":"system","content":"${system}"},` : '"messages":[',
      );
    const job = await harness.submit([
      line('1'),
      line('2', 'A'),
      line('3', 'B'),
      line('4', 'A'),
      line('5', 'B'),
    ]);
    await harness.host();
    await harness.untilEnd(job.id);
    const prompts = target.calls
      .map(({ body }) => /"system","content":"(.)"/.exec(body.toString())?.[1] ?? '-')
      .join('');
    expect(prompts).toMatch(/^(AABB|BBAA)-$/);
  });

  it('slow down together when a target is busy: it is left alone until Retry-After, then all succeed', async () => {
    let refusals = 0;
    let openAtMs = 0;
    await using target = await TargetServer.start(call => {
      if (openAtMs === 0) openAtMs = Date.now() + 600;
      if (Date.now() >= openAtMs) return echoAnswer(call);
      refusals += 1;
      return {
        status: 503,
        headers: { 'retry-after-ms': String(openAtMs - Date.now()) },
      };
    });
    await using harness = await BatchHarness.towards(target);
    const job = await harness.submit(ids(100).map(id => chatLine(id)));
    await harness.host();
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
    expect((await expectWholeBatch(harness, job.id, ids(100))).output).toHaveLength(100);
    expect(refusals).toBeLessThanOrEqual(10);
  });
});
