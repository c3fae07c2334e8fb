import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun, runHere } from './command-run.js';

/**
 * One at a time, and requests that run until they are cancelled: beyond the one prepared
 * ahead they wait.
 */
const SLOW = syntheticModel({
  maxConcurrent: 1,
  maxBatch: 1,
  baseMs: 600_000,
  steps: 1000,
});

describe('commands of the operator', () => {
  let product: Product;
  let answers: Promise<Response>[];
  let tests = 0;

  beforeAll(async () => void (product = await Product.start([SLOW])), 60_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  beforeEach(async () => {
    tests += 1;
    // Ids of their own: one that was cancelled is free again when its worker has stopped.
    answers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(name =>
      product.transcribe('hello', { id: `${name}${tests}`, priority: 'batch' }),
    );
    // One runs and one is prepared ahead.
    await product.until(
      'two run and the others wait',
      async () => (await inState('running')).length === 2 && (await queued()).length === 6,
    );
  });
  afterEach(async () => {
    await run('requests', 'cancel', '--all');
    await Promise.all(answers);
  });

  const run = (...args: string[]) => runHere([...args, '--url', product.url]);
  const child = (...args: string[]) =>
    new CommandRun([...args, '--url', product.url], { FORCE_COLOR: '1' }).ended;
  const inState = async (state: string) =>
    (await product.json<{ data: { request_id: string }[] }>(`/admin/v1/requests?state=${state}`))
      .data;
  const queued = () => inState('queued');
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
    expect((await run('requests', 'show', id)).stdout).toContain(
      'It is number 1 in the queue of synthetic',
    );
    expect((await run('why', id)).stdout).toMatch(/^It is number 1 .*every slot of the workers/);
    expect(JSON.parse((await run('why', id, '--json')).stdout)).toMatchObject({
      request_id: id,
      state: 'queued',
    });
  });

  it('requests cancel ends one request; 5 for one that is unknown, 2 without a choice', async () => {
    const id = await waiting();
    expect(await run('requests', 'cancel', id)).toMatchObject({
      code: 0,
      stdout: `${id} cancelled\n`,
    });
    expect(await run('requests', 'cancel', 'none')).toMatchObject({
      code: 5,
      stdout: '',
    });
    expect(await run('requests', 'cancel')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--all'),
    });
    expect(await run('why', 'none')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('[request_not_found]'),
    });
  });

  it('requests priority moves waiting requests; 5 for one that is unknown, 2 without a priority', async () => {
    const [, second, third] = (await queued()).map(({ request_id }) => request_id);
    const { code, stdout } = await run('requests', 'priority', second!, third!, 'realtime');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${second} +synthetic +\\w+ +realtime +queued +1 `, 'm'));
    // Realtime may exceed the slots by one, so the second may have left the queue by now.
    expect(stdout).toMatch(new RegExp(`^${third} +synthetic +\\w+ +realtime +queued +[12] `, 'm'));
    expect(await run('requests', 'priority', 'none', 'batch')).toMatchObject({
      code: 5,
      stdout: '',
    });
    const without = await run('requests', 'priority', second!);
    expect(without).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('realtime or batch'),
    });
  });

  it('workers list shows state and slots', async () => {
    expect((await run('workers', 'list')).stdout).toMatch(
      /^synthetic-0 +synthetic +busy +none +\d\/\d +0 /m,
    );
  });

  it('takes the gateway from SWITCHYARD_URL', async () => {
    const environment = { SWITCHYARD_URL: product.url };
    const { code, stdout } = await runHere(['queue', '--json'], environment);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ accepting: true })]);
  });
});

describe('commands that use a running gateway', () => {
  let product: Product;
  let folder: string;
  const fast = syntheticModel({ streams: 4 }, { capabilities: ['transcribe', 'stream'] });

  beforeAll(async () => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'clip.txt'), 'mind the gap');
    product = await Product.start([fast]);
  }, 60_000);
  afterAll(() => product[Symbol.asyncDispose]());

  const inFolder = { INIT_CWD: '' };
  beforeAll(() => void Object.assign(inFolder, { INIT_CWD: folder, SWITCHYARD_URL: product.url }));
  const run = (...args: string[]) => runHere([...args, '--url', product.url]);
  const here = (words: string) => runHere(words.split(' '), inFolder);
  const child = (args: readonly string[], environment = {}, input = '') =>
    new CommandRun(args, { ...inFolder, ...environment }, input).ended;

  it('status and top tell what the gateway does; without a terminal top prints once', async () => {
    const { stdout } = await run('status');
    expect(stdout).toMatch(/^gw_\w+ +\d+\.\d+\.\d+ +up /);
    expect(stdout).toMatch(/^synthetic +loaded +0 +0 +- +0 +1\/1 /m);
    expect((await run('top')).stdout).toMatch(/^synthetic +loaded/m);
    const twice = (await run('top', '--count', '2', '--interval', '0.1', '--json')).stdout
      .trim()
      .split('\n');
    expect(twice.map(line => (JSON.parse(line) as { object: string }).object)).toEqual([
      'status',
      'status',
    ]);
  });

  it('workers drain and resume; 5 for a worker that is unknown', async () => {
    expect((await run('workers', 'drain', 'synthetic-0')).stdout).toMatch(
      /^synthetic-0 .*, drained/m,
    );
    expect((await run('workers', 'resume', 'synthetic-0')).stdout).not.toContain('drained');
    expect(await run('workers', 'drain', 'none')).toMatchObject({ code: 5, stdout: '' });
  });

  it('logs and workers logs print lines', async () => {
    const page = JSON.parse((await run('logs', '--json')).stdout) as {
      data: { text: string }[];
    };
    expect(Array.isArray(page.data)).toBe(true);
    expect(await run('workers', 'logs', 'synthetic-0')).toMatchObject({ code: 0 });
    expect(await run('workers', 'logs', 'none')).toMatchObject({ code: 5, stdout: '' });
  });

  it('bench reports latency, throughput and grouping', async () => {
    const { code, stdout } = await here('bench synthetic --audio clip.txt -n 6 -c 3 --json');
    const report = JSON.parse(stdout) as {
      answered: number;
      p99_ms: number;
      mean_group: number;
    };
    expect([code, report.answered]).toEqual([0, 6]);
    expect(report.p99_ms).toBeGreaterThan(0);
    expect(report.mean_group).toBeGreaterThanOrEqual(1);
  });

  it('usage and tenants count what was used; 1 for a day that is none', async () => {
    const { stdout } = await run('usage', '--group-by', 'tenant,model');
    expect(stdout).toMatch(/^tenant +model +requests +failed +cancelled +audio s .* device s$/m);
    expect(stdout).toMatch(/^default +synthetic +6 +0 +0 /m);
    expect((await run('tenants')).stdout).toMatch(/^default +0 +6 /m);
    const none = await run('usage', '--to', '2027-02-30');
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('calendar') });
  });

  it('listen prints the text of raw audio from stdin, and of a file that ffmpeg reads', async () => {
    // The engine recites what it received: 12 bytes.
    const HEARD = /^synthetic transcript \w+ 12 bytes\n$/;
    const raw = ['listen', '-', '--model', 'synthetic', '--raw', '16000'];
    expect(await child(raw, {}, 'mind the gap')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(HEARD),
    });
    const { stdout } = await child([...raw, '--json'], {}, 'mind the gap');
    const types = stdout
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { type: string }).type);
    expect(types.at(-1)).toBe('conversation.item.input_audio_transcription.completed');
    const broken = await here('listen clip.txt --model synthetic');
    expect([broken.code, broken.stderr]).toEqual([
      1,
      expect.stringContaining('ffmpeg ended with code'),
    ]);
  });

  it('support-bundle holds every part and none of the secrets', async () => {
    const secrets = {
      SWITCHYARD_API_KEY: 'sk-switchyard-planted-key-0123456789',
      SWITCHYARD_REDIS_URL: 'redis://user:planted-redis@127.0.0.1:1/0',
      HF_TOKEN: 'hf_planted_token_0123456789',
      AWS_SECRET_ACCESS_KEY: 'planted/aws/secret',
      SWITCHYARD_CONSOLE_TRACE_URL:
        'https://user:planted-trace@host/{request_id}?key=planted-query',
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'hidden.yaml'),
    };
    const headers = { 'x-api-key': 'planted-header', 'x-org': 'planted-org' };
    const llm = { id: 'up', kind: 'llm', capabilities: ['chat'], engine: 'openai-http' };
    const upstream = { ...llm, options: { baseUrl: 'http://a/v1', headers } };
    const command = [
      'server',
      '--token',
      'planted-argument',
      '--api-key=planted-argument',
      '{port}',
    ];
    const external = {
      id: 'ext',
      kind: 'stt',
      capabilities: ['transcribe'],
      engine: 'external',
      command,
    };
    writeFileSync(
      secrets.SWITCHYARD_WORKERS_MODELS_FILE,
      JSON.stringify({ models: [upstream, external] }),
    );
    const { code, stdout } = await child(['support-bundle', '-o', 'bundle.tar.gz'], secrets);
    expect([code, stdout]).toEqual([0, 'bundle.tar.gz\n']);
    const archive = gunzipSync(readFileSync(join(folder, 'bundle.tar.gz'))).toString();
    expect(archive).not.toMatch(/planted/);
    expect(archive).toContain('"redis.url": true');
    expect(archive).toContain('"--api-key=[redacted]"');
    const { stdout: names } = await promisify(execFile)('tar', [
      'tzf',
      join(folder, 'bundle.tar.gz'),
    ]);
    const json =
      'version settings doctor health status history queue requests workers models dependencies logs'.split(
        ' ',
      );
    expect(names.trim().split('\n')).toEqual([...json.map(name => `${name}.json`), 'metrics.txt']);
    const extract = ['xzOf', join(folder, 'bundle.tar.gz'), 'status.json'];
    expect(JSON.parse((await promisify(execFile)('tar', extract)).stdout)).toMatchObject({
      object: 'status',
    });
  });
});

describe('switchyard init', () => {
  let folder: string;
  beforeEach(() => void (folder = temporaryFolder()));
  const init = (...args: string[]) => runHere(['init', ...args], { INIT_CWD: folder });

  it('writes files that the product accepts, says what is next, and overwrites nothing', async () => {
    const { code, stdout, stderr } = await init('mine');
    expect([code, stderr]).toEqual([0, expect.stringContaining('switchyard models add')]);
    const files = stdout.trim().split('\n');
    const texts = () => files.map(file => readFileSync(file, 'utf8'));
    const before = texts();
    expect(files.map(file => file.slice(folder.length))).toEqual([
      '/mine/switchyard.yaml',
      '/mine/models.yaml',
    ]);
    const own = {
      SWITCHYARD_CONFIG: files[0]!,
      SWITCHYARD_WORKERS_MODELS_FILE: files[1]!,
    };
    expect((await runHere(['config', 'print'], own)).stdout).toContain(`${files[0]}:`);
    // By a name that starts where the caller is, also away from the product's folder.
    const launcher = resolve('scripts/switchyard.mjs');
    const away = { ...process.env, ...own, SWITCHYARD_CONFIG: 'switchyard.yaml', NODE_OPTIONS: '' };
    const options = { cwd: join(folder, 'mine'), env: away, encoding: 'utf8' } as const;
    expect(execFileSync(process.execPath, [launcher, 'config', 'print'], options)).toContain(
      'switchyard.yaml:',
    );
    const upstream = join(folder, 'upstream.yaml');
    writeFileSync(
      upstream,
      'models: [{ id: m, kind: llm, engine: openai-http, capabilities: [chat], options: { baseUrl: ' +
        '"http://user:planted-1@127.0.0.1:1/v1", headers: { x-tenant: planted-2 } } }]',
    );
    const secret = { ...own, SWITCHYARD_WORKERS_MODELS_FILE: upstream };
    const printed = await runHere(['config', 'print', '--json'], secret);
    expect(JSON.parse(printed.stdout)).toMatchObject({ models: [{ id: 'm' }] });
    expect(printed.stdout + printed.stderr).not.toContain('planted');
    expect(await init('mine')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing was written'),
    });
    expect(texts()).toEqual(before);
  });
});

describe('switchyard completion', () => {
  it('bash completes commands, options and choices', async () => {
    const { stdout: script } = await runHere(['completion', 'bash']);
    expect(await completed(script, ['requests', ''])).toEqual([
      'list',
      'show',
      'cancel',
      'priority',
      '--help',
    ]);
    expect(await completed(script, ['queue', '--j'])).toEqual(['--json']);
    expect(await completed(script, ['completion', ''])).toEqual(
      expect.arrayContaining(['bash', 'zsh', 'fish']),
    );
  });

  it.each(['zsh', 'fish'])('%s has a script that names every group', async shell => {
    const { stdout } = await runHere(['completion', shell]);
    for (const word of ['models', 'batch', 'worker'])
      expect(stdout).toContain(`'switchyard ${word}'`);
  });
});

async function completed(script: string, words: readonly string[]): Promise<string[]> {
  const line = ['switchyard', ...words].map(word => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _switchyard; printf '%s\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${ask}`]);
  return stdout.trim().split('\n');
}
