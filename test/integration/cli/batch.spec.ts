import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runHere } from './command-run.js';

const TTS = syntheticModel(
  {},
  { kind: 'tts', capabilities: ['speech'], voices: { alloy: 'synthetic' } },
);

describe('switchyard batch', () => {
  let product: Product;
  let folder: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    product = await Product.hosted([TTS], {
      'batch.embedded': 'true',
      'batch.poll_ms': 200,
    });
    writeLines('good.jsonl', 'synthetic', 'synthetic');
    writeLines('mixed.jsonl', 'synthetic', 'nobody');
    writeFileSync(join(folder, 'bad.jsonl'), '{"custom_id":"a"}\nnonsense\n');
  }, 60_000);
  afterAll(() => product[Symbol.asyncDispose]());

  function writeLines(name: string, ...models: string[]): void {
    const lines = models.map((model, index) => {
      const body = {
        model,
        voice: 'alloy',
        input: 'hello',
        response_encoding: 'base64',
      };
      return JSON.stringify({
        custom_id: `line-${index}`,
        method: 'POST',
        url: '/v1/audio/speech',
        body,
      });
    });
    writeFileSync(join(folder, name), lines.join('\n'));
  }

  const run = (...args: string[]) =>
    runHere(['batch', ...args, '--url', product.url], { INIT_CWD: folder });
  const submit = (file: string, ...more: string[]) =>
    run('submit', file, '--endpoint', '/v1/audio/speech', ...more);
  const linesOf = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n');

  it('submit --watch shows progress, downloads the results and ends with 0', async () => {
    const { code, stdout, stderr } = await run('submit', 'good.jsonl', '--watch', '-o', 'good');
    expect([code, stdout]).toEqual([0, 'good_output.jsonl\n']);
    expect(stderr).toMatch(/completed: 2\/2 lines, 0 failed\n/);
    expect(linesOf('good_output.jsonl')).toHaveLength(2);
    expect(existsSync(join(folder, 'good_errors.jsonl'))).toBe(false);
  }, 30_000);

  it('--json prints the batch with its files, progress apart', async () => {
    const submitted = JSON.parse((await submit('good.jsonl', '--json')).stdout) as {
      batch: { id: string };
    };
    const id = submitted.batch.id;
    expect(submitted).toMatchObject({
      batch: { endpoint: '/v1/audio/speech' },
      files: [],
    });
    const ended = { batch: { id, status: 'completed' }, files: ['json_output.jsonl'] };
    expect(JSON.parse((await run('watch', id, '-o', 'json', '--json')).stdout)).toMatchObject(
      ended,
    );
    expect(JSON.parse((await run('download', id, '-o', 'json', '--json')).stdout)).toMatchObject(
      ended,
    );
    const watched = await submit('good.jsonl', '--watch', '-o', 'json', '--json');
    expect(JSON.parse(watched.stdout)).toMatchObject({
      ...ended,
      batch: { status: 'completed' },
    });
  }, 30_000);

  it('ends with 1 when a line failed, and retry-failed makes a batch of it', async () => {
    const { code, stdout, stderr } = await submit(
      'mixed.jsonl',
      '--watch',
      '-o',
      'mixed',
      '--metadata',
      'night=1',
    );
    expect([code, stdout]).toEqual([1, 'mixed_output.jsonl\nmixed_errors.jsonl\n']);
    expect(stderr).toContain('1 of 2 done, 1 failed');
    const [id = ''] = stderr.split('\n');
    const [again = ''] = (await run('retry-failed', id)).stdout.split(' ');
    const watched = await run('watch', again, '-o', 'again');
    expect([watched.code, watched.stdout]).toEqual([1, 'again_errors.jsonl\n']);
    expect(JSON.parse((await run('get', again)).stdout)).toMatchObject({
      retry_of: id,
      metadata: { night: '1' },
    });
    expect((await run('list', '-n', '2')).stdout).toMatch(
      new RegExp(`${again} .*1/1 .*\\n${id} .*2/2 +1 failed`),
    );
    expect((await run('cancel', id)).stderr).toContain('[batch_not_cancellable]');
    expect((await run('download', id, '-o', 'late')).code).toBe(0);
    expect(linesOf('late_output.jsonl')).toEqual(linesOf('mixed_output.jsonl'));
  }, 60_000);

  it('says which lines of a bad file are wrong', async () => {
    const { code, stderr } = await submit('bad.jsonl', '--watch');
    expect(code).toBe(1);
    expect(stderr).toMatch(/failed: .*\n {2}line 1: .*\n {2}line 2: .* \[invalid_json_line\]/);
  }, 30_000);

  it('ends with 2 for a file that is not there, an endpoint that is none, and bad metadata', async () => {
    expect(await submit('none.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    expect(await run('submit', 'none.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    expect((await run('submit', 'good.jsonl', '--endpoint', '/v1/party')).code).toBe(2);
    expect(await run('submit', 'bad.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--endpoint'),
    });
    expect((await submit('good.jsonl', '--metadata', 'night')).code).toBe(2);
  });
});
