import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HubServer } from '../../support/hub-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun, runHere } from './command-run.js';

const WEIGHTS = randomBytes(400_000);

describe('switchyard models', () => {
  let folder: string;
  let hub: HubServer;

  beforeEach(async () => {
    folder = temporaryFolder();
    writeModels('');
    hub = await HubServer.start({
      files: { 'config.json': Buffer.from('{}'), 'weights.bin': WEIGHTS },
    });
  });
  afterEach(() => hub[Symbol.asyncDispose]());

  const writeModels = (more: string) =>
    writeFileSync(
      join(folder, 'models.yaml'),
      `models:\n  - { id: asr, kind: stt, engine: synthetic, capabilities: [transcribe]${more} }\n`,
    );
  const environment = () => ({
    HF_ENDPOINT: hub.url,
    SWITCHYARD_HUB_MODELS_DIR: join(folder, 'shelf'),
    SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    SWITCHYARD_DATA_DIR: join(folder, 'data'),
    SWITCHYARD_SERVER_PORT: '1',
    npm_command: 'run-script',
  });
  const start = (...args: string[]) => new CommandRun(['models', ...args], environment());
  const run = (...args: string[]) => runHere(['models', ...args], environment());
  const weights = () => readFileSync(join(folder, 'shelf/tiny/weights.bin'));

  it('pull survives kill -9: the next one asks for the rest only', async () => {
    hub.script('weights.bin', { kind: 'stall', bytes: 250_000 });
    const first = start('pull', 'hf:acme/tiny');
    await hub.stalled;
    const partial = join(folder, 'shelf/tiny/weights.bin.partial');
    while (sizeOf(partial) < 250_000) await new Promise(setImmediate);
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const second = await run('pull', 'hf:acme/tiny');
    expect([second.code, second.stdout]).toEqual([0, '']);
    expect(hub.downloads('weights.bin').map(({ range }) => range)).toEqual([
      undefined,
      'bytes=250000-',
    ]);
    expect(weights()).toEqual(WEIGHTS);
  });

  it('--offline, check and list tell what is here and what is missing', async () => {
    await run('pull', 'hf:acme/tiny');
    hub.seen.length = 0;
    expect((await run('pull', 'hf:acme/tiny', '--offline')).code).toBe(0);
    expect((await run('check')).code).toBe(0);
    rmSync(join(folder, 'shelf/tiny/weights.bin'));
    const offline = await run('pull', 'hf:acme/tiny', '--offline');
    expect([offline.code, offline.stdout]).toEqual([
      1,
      expect.stringContaining('weights.bin  is missing'),
    ]);
    const check = await run('check');
    expect(check.code).toBe(1);
    expect(check.stdout).toContain(
      'to put it right: switchyard models pull hf:acme/tiny@main --as tiny',
    );
    const list = JSON.parse((await run('list', '--json')).stdout) as {
      models: unknown[];
    };
    expect(list.models).toEqual([
      expect.objectContaining({ name: 'asr', engine: 'synthetic' }),
      expect.objectContaining({ name: 'tiny', revision: 'c0ffee', files: 'complete' }),
    ]);
    expect(hub.seen).toEqual([]);
  });

  it('repairs are commands as they can be typed: with npx in front where npx runs this one', async () => {
    await run('pull', 'hf:acme/tiny');
    rmSync(join(folder, 'shelf/tiny/weights.bin'));
    const npx = async (...args: string[]) => {
      const own = { ...environment(), SWITCHYARD_DATA_DIR: folder, npm_command: 'exec' };
      const { stdout, stderr } = await runHere(args, own);
      return stdout + stderr;
    };
    expect(await npx('models', 'check')).toContain(
      'right: npx switchyard models pull hf:acme/tiny@main --as tiny',
    );
    expect(await npx('models', 'add', 'whisper-smal')).toContain(
      'All: npx switchyard models search',
    );
    expect(await npx('models', 'add', 'whisper-small')).toContain(
      'installed: npx switchyard engines install ctranslate2',
    );
    writeModels(`, options: { modelDir: "${join(folder, 'shelf/tiny')}" }`);
    expect(await npx('models', 'remove', 'tiny')).toContain('(npx switchyard models remove asr)');
    expect(await npx('status')).toContain('start one with `npx switchyard up`');
  });

  it('pull without a network says which host, from where and to where, and ends with 3', async () => {
    const gone = hub.url;
    await hub[Symbol.asyncDispose]();
    hub = await HubServer.start({ files: {} });
    const result = await runHere(['models', 'pull', 'hf:acme/tiny'], {
      HF_ENDPOINT: gone,
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'shelf'),
    });
    expect(result.code).toBe(3);
    expect(result.stderr).toContain(`${new URL(gone).host} cannot be reached (ECONNREFUSED)`);
    expect(result.stderr).toContain(
      `${gone}/acme/tiny/tree/main and copy them to ${join(folder, 'shelf/tiny')}`,
    );
  });

  it('pull stops at Ctrl-C with 130 and leaves no lock', async () => {
    hub.script('weights.bin', { kind: 'stall', bytes: 1000 });
    const first = start('pull', 'hf:acme/tiny');
    await hub.stalled;
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('stopped'),
    });
    expect((await run('pull', 'hf:acme/tiny')).code).toBe(0);
  });

  it.each([
    [['pull', 'ftp://x/y'], 'https, or http to this machine'],
    [['pull', 'hf:acme/tiny', '--as', '../up'], 'no name for a model folder'],
    [['pull', 'hf:acme/tiny', '--sha256', 'abc'], '64 hexadecimal digits'],
    [['pull', 'hf:acme/tiny', '--as', 'a', '--into', 'b'], 'use one of them'],
    [['pull', 'hf:acme/tiny', '--token-file', 'nowhere'], 'token file cannot be read'],
    [['pul'], 'Did you mean pull?'],
  ])('%j is wrong usage: 2', async (args, message) => {
    expect(await run(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
    expect(hub.seen).toEqual([]);
  });

  it('remove refuses what models.yaml uses, asks nobody without a terminal, and then removes', async () => {
    await run('pull', 'hf:acme/tiny');
    writeModels(`, options: { modelDir: "${join(folder, 'shelf/tiny')}" }`);
    expect(await run('remove', 'tiny', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('for asr'),
    });
    expect((await run('remove', 'tiny', '--force')).code).toBe(2);
    expect((await run('remove', 'tiny', '--force', '--yes')).code).toBe(0);
    expect((await run('remove', 'tiny', '--yes')).stderr).toContain('there are: none');
    expect(await run('remove', '..', '--yes')).toMatchObject({ code: 2 });
  });

  it('check ends with 2 and every place when models.yaml is wrong', async () => {
    writeModels(', options: { baseMs: -1, colour: red }, langauges: [en]');
    const { code, stderr } = await run('check');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/models\.yaml:2:\d+ {2}models\[0\]\.langauges: .*languages/),
    ]);
    writeModels(', options: { baseMs: -1, colour: red }');
    const options = await run('check');
    expect(options.code).toBe(2);
    expect(options.stderr).toMatch(
      /models\.yaml:2:\d+ {2}models\[0\]\.options\.baseMs: is -1; allowed/,
    );
    expect(options.stderr).toMatch(
      /models\.yaml:2:\d+ {2}models\[0\]\.options\.colour: is unknown/,
    );
  });
});

function sizeOf(path: string): number {
  try {
    return readFileSync(path).length;
  } catch {
    return 0;
  }
}
