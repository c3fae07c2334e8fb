import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { waitUntilReady } from './gateway-probe.mjs';
import { ensureBuild } from './setup/build.mjs';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { keptFolder } from './setup/kept-folder.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { doing, done, runMain, SetupError } from './setup/report.mjs';
import { runSuite } from './test-suite.mjs';
import { freePorts } from './topology/free-port.mjs';

/**
 * Runs official clients in Python and Node, and workers in Python, against the built
 * product; see test/conformance/README.md.
 */
const READY_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 20_000;
/** What `--only` names besides modules of `run.py`. */
const OTHER_CHECKS = ['node', 'decoders', 'worker_specs'];
const WORKER_SPECS = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', inRoot('workers/python')];
const suite = (...parts) => inRoot('test/conformance', ...parts);

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      'no-build': { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
    },
  });
  await ensurePackages({ install: false });
  if (!values['no-build']) await ensureBuild();
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-conformance-'));
  try {
    const [python, clients] = await Promise.all([
      virtualEnvironment(folder, values.only),
      ['', 'node'].includes(values.only) && installClients(folder),
      installEngine(folder),
      generateModels(folder),
    ]);
    return await withProduct(folder, async url => {
      const flags = ['-W', 'ignore::DeprecationWarning'];
      const checks = [
        python,
        ...flags,
        suite('python', 'run.py'),
        `${url}/v1`,
        folder,
        values.only,
      ];
      const typescript = ['--import', inRoot('test/support/typescript-loader.mjs')];
      const parts = [
        [
          // The gate has them among its specs.
          ['responses'],
          [nodeBinary(), ...typescript, suite('open-responses.ts'), url],
        ],
        [OTHER_CHECKS.includes(values.only) ? [] : [values.only], checks],
        [
          ['', 'node'],
          [nodeBinary(), clients, `${url}/v1`, folder],
        ],
      ];
      let failed = 0;
      for (const [names, command] of parts)
        if (names.includes(values.only)) failed += await run(...command);
      if (['', 'decoders'].includes(values.only)) failed += await compareDecoders(python);
      if (['', 'worker_specs'].includes(values.only)) failed += await run(python, ...WORKER_SPECS);
      return Math.min(failed, 1);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** @throws SetupError `problem` with what the command printed */
async function demandSuccess(problem, running) {
  const { code, output } = await running;
  if (code !== 0) throw new SetupError(`${problem}:\n${output}`);
}

/**
 * Official clients, which are kept for the next run, and workers/python, installed anew.
 * What one module alone needs is installed if that is the one to run.
 */
async function virtualEnvironment(folder, only) {
  const common = suite('python', 'requirements.txt');
  const lists = [common, suite('python', `${only}-requirements.txt`)].filter(existsSync);
  const { output: version } = await command('python3', ['--version']);
  const key = [version, ...lists.map(list => readFileSync(list, 'utf8'))].join('\n');
  const clients = await keptFolder('conformance-python', key, async venv => {
    doing('Python SDK', 'a virtual environment with official clients');
    await succeed('python3', '-m', 'venv', venv);
    for (const list of lists) await succeed(...pip(venv), '--require-hashes', '-r', list);
  });
  const venv = join(folder, 'venv');
  await succeed('python3', '-m', 'venv', '--without-pip', venv);
  const packages = await sitePackages(venv);
  await writeFile(join(packages, 'clients.pth'), await sitePackages(clients));
  // A copy: building a package leaves files beside its sources.
  const workers = join(folder, 'workers');
  await cp(inRoot('workers/python'), workers, { recursive: true });
  // What it needs is among the clients.
  await succeed(...pip(clients), '--no-deps', '--target', packages, workers);
  done('Python SDK', 'installed');
  return join(venv, 'bin', 'python');
}

/** Most of them are never loaded, and what is loaded is compiled then. */
function pip(venv) {
  const python = join(venv, 'bin', 'python');
  const options = ['--quiet', '--disable-pip-version-check', '--no-compile'];
  return [python, '-m', 'pip', 'install', ...options];
}

async function sitePackages(venv) {
  const [python] = await readdir(join(venv, 'lib'));
  return join(venv, 'lib', python, 'site-packages');
}

function succeed(file, ...args) {
  return demandSuccess(`${[file, ...args].join(' ')} failed`, command(file, args));
}

/** Libraries that no other test needs. @returns their checks, beside which they lie */
async function installClients(folder) {
  const node = join(folder, 'node');
  await cp(suite('node'), node, { recursive: true });
  const manifest = readFileSync(suite('node', 'package.json'), 'utf8');
  const kept = await keptFolder('conformance-node', manifest, async place => {
    await cp(suite('node', 'package.json'), join(place, 'package.json'));
    const npm = command('npm', [
      'install',
      '--prefix',
      place,
      '--no-audit',
      '--no-fund',
      // Agents put their programs in place by a script.
      '--ignore-scripts=false',
    ]);
    await demandSuccess('The clients for Node cannot be installed', npm);
  });
  symlinkSync(join(kept, 'node_modules'), join(node, 'node_modules'));
  done('Node clients', 'installed');
  return join(node, 'run.mjs');
}

/**
 * The environment that the CTranslate2 worker runs in, by the command that people use.
 */
async function installEngine(folder) {
  const data = { SWITCHYARD_DATA_DIR: join(folder, 'data'), PIP_NO_COMPILE: '1' };
  const env = toolEnvironment(data);
  const args = [inRoot('dist/main.cli.js'), 'engines', 'install', 'ctranslate2'];
  const installing = command(nodeBinary(), args, { env });
  await demandSuccess('switchyard engines install ctranslate2 failed', installing);
  done('ctranslate2', 'installed');
}

async function generateModels(folder) {
  const loader = inRoot('test/support/typescript-loader.mjs');
  const args = ['--import', loader, suite('generate-models.ts'), folder];
  await demandSuccess('The models cannot be written', command(nodeBinary(), args));
  done('models', 'written, with small GGUF files of random weights');
}

async function withProduct(folder, use) {
  const [port] = await freePorts(1);
  const env = {
    ...process.env,
    SWITCHYARD_SERVER_PORT: String(port),
    SWITCHYARD_DATA_DIR: join(folder, 'data'),
    SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    SWITCHYARD_LOGGING_LEVEL: 'error',
  };
  const gateway = spawn(nodeBinary(), [inRoot('dist/main.gateway.js')], {
    env,
    stdio: ['ignore', 2, 2],
  });
  const exited = once(gateway, 'exit');
  const stopping = new AbortController();
  void exited.then(() => stopping.abort());
  try {
    const url = `http://127.0.0.1:${port}`;
    const { ready, detail } = await waitUntilReady(url, {
      limitMs: READY_LIMIT_MS,
      stopping: stopping.signal,
    });
    if (!ready) throw new SetupError(`The product does not get ready: ${detail}`);
    return await use(url);
  } finally {
    gateway.kill('SIGTERM');
    const kill = setTimeout(() => gateway.kill('SIGKILL'), STOP_LIMIT_MS);
    await exited;
    clearTimeout(kill);
  }
}

/** Its contract test skips the decoder of the Python worker where there is none. */
async function compareDecoders(python) {
  const env = { SWITCHYARD_TEST_PYTHON: python };
  return (await runSuite(['test/contract/audio/decoders.spec.ts'], [], env)).failed;
}

/** @returns its exit code; it writes to this terminal. */
async function run(file, ...args) {
  const [code] = await once(spawn(file, args, { stdio: 'inherit' }), 'exit');
  return code ?? 1;
}
