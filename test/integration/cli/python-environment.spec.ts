import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  PythonEnvironment,
  PYTHON_MIN,
} from '../../../src/cli/models/engines/python-environment.js';
import { type RunCommand } from '../../../src/cli/shared/run-command.js';
import { fakeCommands, fakePython } from '../../support/fake-commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const OPTIONS = { cuda: false, report: () => undefined };

describe('the Python environment of ctranslate2', () => {
  let folder: string;
  let sources: string;
  beforeEach(() => {
    folder = temporaryFolder();
    sources = join(folder, 'workers');
    mkdirSync(join(sources, 'requirements'), { recursive: true });
    pin('ctranslate2==4.8.5');
    writeFileSync(
      join(sources, 'requirements', 'ctranslate2-cuda.txt'),
      'nvidia-cublas-cu12==12.0\n',
    );
  });

  const pin = (line: string) =>
    writeFileSync(join(sources, 'requirements', 'ctranslate2.txt'), `${line}\n`);
  const environmentOf = (run: RunCommand) =>
    new PythonEnvironment(join(folder, 'data'), run, sources);
  const withPip = (pip: string) =>
    environmentOf(fakeCommands(folder, { python3: fakePython({ pip }) }));
  const logged = () => `echo "$@" >> ${folder}/pip.log`;
  const pipCalls = () => readFileSync(join(folder, 'pip.log'), 'utf8').trim().split('\n');
  const failure = (environment: PythonEnvironment, options: object = {}) =>
    environment.install({ ...OPTIONS, ...options }).then(
      () => 'installed',
      (error: { message: string; exitCode: number }) => `${error.exitCode}: ${error.message}`,
    );

  it('is made once, from wheels of the pinned versions only', async () => {
    const environment = withPip(logged());
    expect(environment.state()).toEqual({ state: 'absent' });
    expect(await environment.install(OPTIONS)).toMatchObject({
      state: 'ready',
      manifest: { cuda: false, versions: { ctranslate2: '4.8.5', python: '3.11.7' } },
    });
    await environment.install(OPTIONS);
    const options = '--no-input --progress-bar off --only-binary :all: --require-hashes';
    expect(pipCalls()).toEqual([
      `-m pip install ${options} --requirement ${sources}/requirements/ctranslate2.txt`,
    ]);
    expect(existsSync(environment.python)).toBe(true);
  });

  it('passes the settings of pip on, and nothing else that a program may keep to itself', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: '/wheels',
      SWITCHYARD_DATA_DIR: '/elsewhere',
      CI_DEPLOY_TOKEN: 'secret',
    });
    try {
      await withPip(`env > ${folder}/env.log`).install(OPTIONS);
    } finally {
      process.env = before;
    }
    const passed = readFileSync(join(folder, 'env.log'), 'utf8').split('\n');
    expect(passed).toEqual(expect.arrayContaining(['PIP_NO_INDEX=1', 'PIP_FIND_LINKS=/wheels']));
    expect(passed.filter(line => /^(SWITCHYARD_|CI_)/.test(line))).toEqual([]);
  });

  it('is not there after an installation that failed, and nothing is left of it', async () => {
    const environment = withPip('echo "ERROR: No space left on device"; exit 1');
    expect(await failure(environment)).toContain('the disk is full');
    expect(environment.state()).toEqual({ state: 'absent' });
    expect(readdirSync(join(folder, 'data', 'engines'))).toEqual([]);
  });

  it('is not there after an installation that was killed; the next one removes what is left', async () => {
    const half = join(folder, 'data', 'engines', '.ctranslate2-99999999-x');
    mkdirSync(join(half, 'bin'), { recursive: true });
    writeFileSync(join(half, 'bin', 'python'), '');
    const environment = withPip(':');
    expect(environment.state()).toEqual({ state: 'absent' });
    expect((await environment.install(OPTIONS)).state).toBe('ready');
    expect(existsSync(half)).toBe(false);
  });

  it('stays as it is when an upgrade fails, and is replaced by one that succeeds', async () => {
    const before = withPip(':');
    await before.install(OPTIONS);
    pin('ctranslate2==4.9.0');
    expect(before.state().state).toBe('outdated');
    expect(await failure(withPip('exit 1'))).toContain('pip install failed');
    expect([before.state().state, existsSync(before.python)]).toEqual(['outdated', true]);
    expect((await withPip(':').install(OPTIONS)).state).toBe('ready');
  });

  it('made by a clone that has gone is pointed to this one, without a download', async () => {
    const gone = join(folder, 'gone');
    cpSync(sources, gone, { recursive: true });
    const run = fakeCommands(folder, { python3: fakePython({ pip: logged() }) });
    await new PythonEnvironment(join(folder, 'data'), run, gone).install(OPTIONS);
    const environment = environmentOf(run);
    expect(environment.state().state).toBe('outdated');
    expect((await environment.install(OPTIONS)).state).toBe('ready');
    expect(pipCalls()).toHaveLength(1);
  });

  it('brings the CUDA libraries when asked, and keeps them', async () => {
    const environment = withPip(logged());
    await environment.install(OPTIONS);
    expect((await environment.install({ ...OPTIONS, cuda: true })).manifest?.cuda).toBe(true);
    expect((await environment.install(OPTIONS)).manifest?.cuda).toBe(true);
    expect(pipCalls().map(call => call.includes('ctranslate2-cuda.txt'))).toEqual([false, true]);
  });

  it('is damaged when its Python is gone', async () => {
    const environment = withPip(':');
    await environment.install(OPTIONS);
    rmSync(environment.python);
    expect(environment.state().state).toBe('damaged');
    expect((await environment.install(OPTIONS)).state).toBe('ready');
  });

  it.each([
    [
      'no Python',
      {},
      /^1: python3 is not found: Python 3\.11 or newer is needed\. apt-get install -y .*python3-venv/,
    ],
    [
      'an old one',
      { python3: fakePython({ version: '3, 9' }) },
      /^1: python3 is Python 3\.9: 3\.11 or newer is needed/,
    ],
    [
      'one without ensurepip',
      { python3: fakePython({ version: '3, 12', venv: false }) },
      /^1: python3 \(3\.12\) has no venv or ensurepip: apt-get install -y .*python3\.12-venv/,
    ],
    [
      'no wheel',
      {
        python3: fakePython({
          pip: 'echo "ERROR: No matching distribution found for ctranslate2==4.8.5"; exit 1',
        }),
      },
      /^1: no wheel of ctranslate2==4\.8\.5 for this Python and machine\. .*PIP_FIND_LINKS/,
    ],
    [
      'no network',
      {
        python3: fakePython({
          pip: 'echo "NewConnectionError: refused"; echo "ERROR: No matching distribution found for av"; exit 1',
        }),
      },
      /^3: the package index cannot be reached: .*PIP_NO_INDEX=1/,
    ],
    [
      'no network, of which pip tells its log only',
      {
        python3: fakePython({
          pip: 'echo "Max retries exceeded" > "$PIP_LOG"; echo "ERROR: No matching distribution found for av"; exit 1',
        }),
      },
      /^3: the package index cannot be reached: .*PIP_NO_INDEX=1/,
    ],
  ])('says what to do with %s', async (_, scripts, message) => {
    expect(await failure(environmentOf(fakeCommands(folder, scripts)))).toMatch(message);
  });

  it('takes a newer Python beside an old one, or the one that is named', async () => {
    const old = fakePython({ version: '3, 9' });
    const both = environmentOf(
      fakeCommands(folder, {
        python3: old,
        'python3.12': fakePython({ version: '3, 12' }),
      }),
    );
    expect((await both.install(OPTIONS)).state).toBe('ready');
    expect(
      await failure(environmentOf(fakeCommands(folder, {})), {
        cuda: true,
        python: 'python9',
      }),
    ).toContain('python9 is not found');
  });
});

describe('workers/python', () => {
  const project = readFileSync('workers/python/pyproject.toml', 'utf8');
  const pins = (file: string) =>
    [
      ...readFileSync(`workers/python/requirements/${file}`, 'utf8').matchAll(/^[\w.-]+==\S+/gm),
    ].map(([pin]) => pin);

  it('is locked at the versions that its project names', () => {
    const named = [...project.matchAll(/^(?:dependencies|ctranslate2) = \[(.*)\]$/gm)].flatMap(
      ([, list = '']) => [...list.matchAll(/"([^"]+)"/g)].map(([, requirement]) => requirement),
    );
    expect(named.length).toBeGreaterThanOrEqual(6);
    expect(pins('ctranslate2.txt')).toEqual(expect.arrayContaining(named));
  });

  it('needs the Python that the installation asks for', () => {
    expect(project).toContain(`requires-python = ">=${PYTHON_MIN.join('.')}"`);
  });
});
