import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { loadConfig, type LoadedConfig } from '../../platform/config/load-config.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { programFolders } from '../../platform/config/process-environment.js';
import { redisAddresses } from '../../platform/config/redis-server.js';
import { type Settings } from '../../platform/config/settings.js';
import { problemText } from '../../platform/config/yaml-file.js';
import { listenProblem, portHolder } from '../../platform/process/listen-check.js';
import { freeBytes } from '../../platform/storage/storage-problems.js';
import { checkModels } from '../models/check.js';
import { ENGINE_TABLE } from '../models/engines/engine-table.js';
import { isCompiledHere, lackingBuildTools } from '../models/engines/llama-kernels.js';
import { PythonEnvironment } from '../models/engines/python-environment.js';
import { ModelStore } from '../models/hub/model-store.js';
import { command, type EngineChecks } from '../shared/command.js';
import { diagnosesText, type Diagnosis, failing, passing, warning } from '../shared/diagnosis.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { runCommand } from '../shared/run-command.js';
import { byteText } from '../shared/terminal.js';
import { KEY_TEXTS } from './status.js';

const NODE_MIN = [22, 12] as const;
const LOW_DISK_BYTES = 2 * 1024 ** 3;
/** With less free space, uploads, batches and the database soon fail. */
const FULL_DISK_BYTES = 256 * 1024 ** 2;
const DIAL_LIMIT_MS = 2000;

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return fits
    ? passing('Node', `${process.version} (${process.execPath})`)
    : failing('Node', process.version, `install Node ${NODE_MIN.join('.')} or newer`);
}

/**
 * The npm packages of engines that models use: what is absent shows only when
 * an engine starts.
 */
const checkPackages = (local: readonly ModelSpec[]) =>
  [...new Set(local.map(({ engine }) => engine))].flatMap(engine => {
    const [name] = ENGINE_TABLE[engine]?.npm ?? [];
    return name === undefined ? [] : [checkPackage(name, engine)];
  });

async function checkPackage(name: string, engine: string) {
  try {
    await import(name);
    return passing(engine, `${name} loads`);
  } catch (error) {
    const detail = `${name}: ${(error as Error).message.split('\n')[0]}`;
    return failing(engine, detail, `switchyard engines install ${engine}`);
  }
}

async function checkFfmpeg() {
  const { code, output } = await runCommand('ffmpeg', ['-version']);
  if (code !== 127) return passing('ffmpeg', output.split('\n')[0] ?? '');
  const detail = 'not found: only 16 kHz mono WAV can be read, and only WAV and PCM written';
  return failing('ffmpeg', detail, installCommand(['ffmpeg']));
}

/** Passes if the port is free, or if a running Switchyard has it. */
async function checkPort({ host, port }: Settings['server']) {
  const problem = await listenProblem({ host, port });
  const what = `port ${port}`;
  if (problem === undefined) return passing(what, `free on ${host}`);
  if (problem === 'EADDRINUSE' && (await isSwitchyard(host, port)))
    return passing(what, `a gateway runs on ${host}`);
  const holder = problem === 'EADDRINUSE' ? portHolder(port) : undefined;
  const by = holder ? `, held by process ${holder.pid} (${holder.command})` : '';
  const fix = `${holder ? `kill ${holder.pid}` : 'stop what uses it'}, or set SWITCHYARD_SERVER_PORT=${port + 1}`;
  return failing(what, `cannot listen on ${host}: ${problem}${by}`, fix);
}

async function isSwitchyard(host: string, port: number) {
  try {
    const response = await fetch(`http://${host}:${port}/health/live`, {
      signal: AbortSignal.timeout(DIAL_LIMIT_MS),
    });
    return response.ok;
  } catch {
    return false;
  }
}

export async function checkFolder(
  what: string,
  path: string,
  freeOf = freeBytes,
): Promise<Diagnosis> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const fix = `sudo install -d -o "$(id -un)" ${folder}, or name another folder`;
    return failing(what, `${folder} may not be written (${code})`, fix);
  }
  const free = await freeOf(folder);
  const detail = `${folder}, ${byteText(free)} free`;
  if (free >= LOW_DISK_BYTES) return passing(what, detail);
  const diagnose = free < FULL_DISK_BYTES ? failing : warning;
  return diagnose(what, detail, 'make room: uploads and models need it');
}

async function checkModelFiles(
  models: readonly ModelSpec[],
  settings: Settings,
  engines: EngineChecks,
) {
  const verdicts = await checkModels(models, new ModelStore(settings.hub.modelsDir), {
    ...engines,
    checksums: false,
  });
  const bad = verdicts.filter(({ ok: good }) => !good);
  if (bad.length === 0)
    return passing('models', `${models.length} in ${settings.workers.modelsFile}`);
  const detail = bad.map(({ name, problems }) => `${name}: ${problems[0]}`).join('; ');
  return failing('models', detail, 'switchyard models check');
}

/** Checks the database of files and batches: a server, or SQLite in the data folder. */
async function checkDatabase({ database, data }: Settings) {
  if (database.url !== '') return checkServer('database', database.url, 'database.url');
  const file = resolve(data.dir, 'switchyard.db');
  const { size } = await stat(file).catch(() => ({ size: undefined }));
  const state = size === undefined ? 'made by the first start' : byteText(size);
  return passing('database', `SQLite, ${file}, ${state} (database.url is empty)`);
}

/** Checks the address of an optional server; a handshake would need its secrets. */
async function checkServer(what: string, url: string, setting: string) {
  if (url === '') return passing(what, `not used (${setting} is empty)`);
  const { hostname, port, protocol } = new URL(url);
  const target = `${hostname}:${port || (protocol.startsWith('redis') ? 6379 : 5432)}`;
  try {
    const socket = connect({ host: hostname, port: Number(target.split(':').at(-1)) });
    socket.setTimeout(DIAL_LIMIT_MS, () => socket.destroy(new Error('no answer')));
    await once(socket, 'connect');
    socket.destroy();
    return passing(what, `${target} accepts connections`);
  } catch (error) {
    const detail = `${target}: ${(error as Error).message}`;
    return failing(what, detail, `start it, or change ${setting}`);
  }
}

/** Checks one Redis, or each of its Sentinels. */
function checkRedis({ url, sentinels }: Settings['redis']): Promise<Diagnosis>[] {
  if (sentinels === '') return [checkServer('redis', url, 'redis.url')];
  return (redisAddresses(sentinels) ?? []).map(address => {
    address.port ||= '26379';
    return checkServer('sentinel', address.href, 'redis.sentinels');
  });
}

/** Checks the program of each `command` of workers in other languages. */
const checkCommands = (local: readonly ModelSpec[]) =>
  local
    .filter(({ command }) => command)
    .map(async ({ id, command: [program = ''] = [] }) => {
      const files = program.includes('/')
        ? [resolve(program)]
        : programFolders().map(folder => join(folder, program));
      for (const file of files)
        if (await isProgram(file)) return passing('command', `${id}: ${file}`);
      const fix = `install it, or change \`command\` of ${id}`;
      return failing('command', `${id}: there is no program ${program}`, fix);
    });

const isProgram = (file: string) =>
  Promise.all([access(file, constants.X_OK), stat(file)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );

/**
 * What a gateway that runs here says of its keys and its workers; nothing of workers
 * where it asks for a key.
 */
async function checkGateway({ host, port }: Settings['server']): Promise<readonly Diagnosis[]> {
  const ask = (what: string) =>
    fetch(`http://${host}:${port}/admin/v1/${what}`, {
      signal: AbortSignal.timeout(DIAL_LIMIT_MS),
    });
  try {
    const status = await ask('status');
    if (status.status === 401) return [passing('keys', 'required')];
    const { gateway } = (await status.json()) as GatewayAnswer<'/admin/v1/status'>;
    const workers = await ask('workers');
    const { data } = (await workers.json()) as GatewayAnswer<'/admin/v1/workers'>;
    const ofKeys = gateway.keys === 'ignored' ? warning : passing;
    const unwell = data.filter(({ problem }) => problem !== undefined);
    return [
      ofKeys('keys', KEY_TEXTS[gateway.keys]),
      ...unwell.map(({ id, problem }) => failing('worker', `${id}: ${problem}`)),
    ];
  } catch {
    return [];
  }
}

const MODULE = 'switchyard_worker.ctranslate2';

const STATES = {
  absent: 'not installed',
  damaged: 'incomplete, or its Python is gone',
  outdated: 'of another release of Switchyard',
} as const;

/**
 * The environment of `engines install ctranslate2`, where the command of a model starts
 * with its Python.
 */
function checkPythonWorkers(models: readonly ModelSpec[], dataDir: string): readonly Diagnosis[] {
  const environment = new PythonEnvironment(dataDir);
  const users = models.filter(model => usesEnvironment(model, environment)).map(({ id }) => id);
  if (users.length === 0) return [];
  const { state, manifest } = environment.state();
  const what = 'ctranslate2';
  if (state === 'ready') {
    const { ctranslate2, python } = manifest!.versions;
    return [passing(what, `${ctranslate2}, Python ${python}, for ${users.join(', ')}`)];
  }
  const detail = `needed by ${users.join(', ')}: ${environment.folder} is ${STATES[state]}`;
  const fix = `switchyard engines install ctranslate2${manifest?.cuda ? ' --cuda' : ''}`;
  return [(state === 'outdated' ? warning : failing)(what, detail, fix)];
}

const usesEnvironment = ({ command = [] }: ModelSpec, { python }: PythonEnvironment) =>
  command.includes(MODULE) && resolve(command[0] ?? '') === python;

/**
 * Compiled kernels are an offer: they need a compiler, which is named when
 * one accepts it.
 */
async function checkLlamaKernels(models: readonly ModelSpec[]): Promise<readonly Diagnosis[]> {
  if (!models.some(({ engine, options }) => engine === 'llama-cpp' && options.device !== 'cuda'))
    return [];
  if ((await lackingBuildTools()) !== undefined) return [];
  const what = 'llama.cpp';
  if (isCompiledHere()) return [passing(what, 'compiled for this CPU')];
  const detail =
    'prebuilt kernels, which reach 0.65 to 0.8 of kernels compiled for this CPU with several requests';
  return [warning(what, detail, 'switchyard engines install llama-cpp --native')];
}

export const doctorCommand = command('doctor', {
  about: 'check whether this machine is ready; each problem comes with its fix',
  examples: ['doctor', 'doctor --json | jq \'.checks[] | select(.state == "fail")\''],
  notes: 'Exit code 1: something that is configured will not work. ! marks what is optional.',
  async run({ engines }) {
    const checks = await diagnose(await engines());
    return { ok: checks.every(({ state }) => state !== 'fail'), checks };
  },
  text: diagnosesText,
});

/** Every check of this machine and its configuration. */
export async function diagnose(engines: EngineChecks): Promise<readonly Diagnosis[]> {
  const machine = [checkNode(), await checkFfmpeg()];
  let config: LoadedConfig;
  try {
    config = loadConfig({ askEngine: engines.objections });
  } catch (error) {
    const { message } = error as Error;
    return [...machine, failing('configuration', message, 'change these lines')];
  }
  return [...machine, ...(await configured(config, engines))];
}

async function configured(
  { settings, models, warnings }: LoadedConfig,
  engines: EngineChecks,
): Promise<readonly Diagnosis[]> {
  const local = models.filter(({ replicas }) => replicas !== 0);
  const valid = `${settings.workers.modelsFile} and every setting are valid`;
  return [
    passing('configuration', valid),
    ...warnings.map(problem => warning('configuration', problemText(problem))),
    ...(await Promise.all([...checkPackages(local), ...checkCommands(local)])),
    ...checkPythonWorkers(models, settings.data.dir),
    ...(await checkLlamaKernels(models)),
    await checkModelFiles(models, settings, engines),
    await checkPort(settings.server),
    ...(await checkGateway(settings.server)),
    await checkFolder('data folder', settings.data.dir),
    await checkFolder('models folder', settings.hub.modelsDir),
    ...(await Promise.all([...checkRedis(settings.redis), checkDatabase(settings)])),
  ];
}
