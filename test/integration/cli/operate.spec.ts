import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { CommandRun, runHere } from './command-run.js';

/** One at a time, and requests that run until they are cancelled: beyond the one prepared ahead they wait. */
const SLOW = syntheticModel({ maxConcurrent: 1, maxBatch: 1, baseMs: 600_000, steps: 1000 });

describe('commands of the operator', () => {
  let product: Product;
  let answers: Promise<Response>[];

  beforeAll(async () => void (product = await Product.start([SLOW])), 60_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  beforeEach(async () => {
    answers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(id =>
      product.transcribe('hello', { id, priority: 'batch' }),
    );
    await product.untilRunning(1);
    await product.until('requests wait', async () => (await queued()).length > 0);
  });
  afterEach(async () => {
    await run('requests', 'cancel', '--all');
    await Promise.all(answers);
  });

  const run = (...args: string[]) => runHere([...args, '--url', product.url]);
  const child = (...args: string[]) => new CommandRun([...args, '--url', product.url], { FORCE_COLOR: '1' }).ended;
  const queued = async () =>
    (await product.json<{ data: { request_id: string }[] }>('/admin/v1/requests?state=queued')).data;
  const waiting = async () => (await queued())[0]!.request_id;

  it('queue shows what waits and runs, without colours in a pipe', async () => {
    const { code, stdout, stderr } = await child('queue');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^model +realtime +batch +running +oldest wait\nsynthetic +0 +\d +\d +\d.*\n\d of \d+ places/,
    );
    expect(stdout).not.toContain('\u001b');
  });

  it('requests list, show and why tell where a request is', async () => {
    const id = await waiting();
    expect((await run('requests', 'list')).stdout).toMatch(
      new RegExp(`^${id} +synthetic +\\w+ +batch +queued +1 `, 'm'),
    );
    expect((await run('requests', 'list', '--state', 'completed')).stdout).toBe('no requests\n');
    expect((await run('requests', 'show', id)).stdout).toContain('It is number 1 in the queue of synthetic');
    expect((await run('why', id)).stdout).toMatch(/^It is number 1 .*every slot of the workers/);
    expect(JSON.parse((await run('why', id, '--json')).stdout)).toMatchObject({ request_id: id, state: 'queued' });
  });

  it('requests cancel ends one request; 5 for one that is unknown, 2 without a choice', async () => {
    const id = await waiting();
    expect(await run('requests', 'cancel', id)).toMatchObject({ code: 0, stdout: `${id} cancelled\n` });
    expect(await run('requests', 'cancel', 'none')).toMatchObject({ code: 5, stdout: '' });
    expect(await run('requests', 'cancel')).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
    expect(await run('why', 'none')).toMatchObject({ code: 5, stderr: expect.stringContaining('[request_not_found]') });
  });

  it('workers list shows state and slots', async () => {
    expect((await run('workers', 'list')).stdout).toMatch(/^synthetic-0 +synthetic +busy +none +\d\/\d +0 /m);
  });

  it('takes the gateway from SWITCHYARD_URL', async () => {
    const { code, stdout } = await new CommandRun(['queue', '--json'], { SWITCHYARD_URL: product.url }).ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ accepting: true })]);
  });
});

describe('switchyard init', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'init-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const init = (...args: string[]) => new CommandRun(['init', ...args], { INIT_CWD: folder }).ended;

  it('writes files that the product accepts, says what is next, and overwrites nothing', async () => {
    const { code, stdout, stderr } = await init('mine');
    expect([code, stderr]).toEqual([0, expect.stringContaining('switchyard models add')]);
    const files = stdout.trim().split('\n');
    const texts = () => files.map(file => readFileSync(file, 'utf8'));
    const before = texts();
    expect(files.map(file => file.slice(folder.length))).toEqual(['/mine/switchyard.yaml', '/mine/models.yaml']);
    const own = { SWITCHYARD_CONFIG: files[0]!, SWITCHYARD_WORKERS_MODELS_FILE: files[1]! };
    expect((await new CommandRun(['config', 'print'], own).ended).stdout).toContain(`${files[0]}:`);
    expect(await init('mine')).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was written') });
    expect(texts()).toEqual(before);
  });
});

describe('switchyard completion', () => {
  it('bash completes commands, options and choices', async () => {
    const { stdout: script } = await runHere(['completion', 'bash']);
    expect(await completed(script, ['requests', ''])).toEqual(['list', 'show', 'cancel', '--help']);
    expect(await completed(script, ['queue', '--j'])).toEqual(['--json']);
    expect(await completed(script, ['completion', ''])).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it.each(['zsh', 'fish'])('%s has a script that names every group', async shell => {
    const { stdout } = await runHere(['completion', shell]);
    for (const word of ['models', 'batch', 'worker']) expect(stdout).toContain(`'switchyard ${word}'`);
  });
});

async function completed(script: string, words: readonly string[]): Promise<string[]> {
  const line = ['switchyard', ...words].map(word => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _switchyard; printf '%s\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${ask}`]);
  return stdout.trim().split('\n');
}
