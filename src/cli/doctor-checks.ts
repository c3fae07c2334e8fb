import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type Settings } from '../platform/config/settings.js';
import { listenProblem, portHolder } from '../platform/process/listen-check.js';
import { freeBytes } from '../platform/storage/storage-problems.js';
import { aptInstallCommand } from '@switchyard/engine-api/engine.js';
import { ENGINE_TABLE } from './engines/engine-table.js';
import { openNativeLibrary } from '@switchyard/engine-debian/threads/native-library.js';
import { byteText } from './hub/disk-space.js';
import { ModelStore } from './hub/model-store.js';
import { checkModels } from './models-check.js';
import { type EngineChecks } from './shared/command.js';
import { type Diagnosis, failing, passing } from './shared/diagnosis.js';

interface EngineLibrary {
  /** @returns what was loaded. @throws Error with what is missing */
  readonly load: () => string;
  readonly fix: string;
}

const library = (name: string, ...packages: string[]): EngineLibrary => ({
  load: () => {
    openNativeLibrary(name, packages);
    return name;
  },
  fix: aptInstallCommand(...packages),
});

/** Engines that need a library of the system, by their name in models.yaml. */
export const EMBEDDED_LIBRARIES: Readonly<Record<string, EngineLibrary>> = {
  pocketsphinx: library('libpocketsphinx.so.3', 'libpocketsphinx3', 'pocketsphinx-en-us'),
  flite: library('libflite.so.1', 'libflite1'),
};

const NODE_MIN = [22, 12] as const;
const LOW_DISK_BYTES = 2 * 1024 ** 3;
/** Below this uploads, batches and the database soon fail. */
const FULL_DISK_BYTES = 256 * 1024 ** 2;
const DIAL_LIMIT_MS = 2000;

export function checkNode(): Diagnosis {
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
export async function checkPackages(
  models: readonly ModelSpec[],
): Promise<readonly Diagnosis[]> {
  const local = models.filter(({ replicas }) => replicas !== 0);
  const checks = [...new Set(local.map(({ engine }) => engine))].flatMap(engine => {
    const [name] = ENGINE_TABLE[engine]?.npm ?? [];
    return name === undefined ? [] : [checkPackage(name, engine)];
  });
  return Promise.all(checks);
}

async function checkPackage(name: string, engine: string): Promise<Diagnosis> {
  try {
    await import(name);
    return passing(engine, `${name} loads`);
  } catch (error) {
    const detail = `${name}: ${(error as Error).message.split('\n')[0]}`;
    return failing(engine, detail, `switchyard engines install ${engine}`);
  }
}

export async function checkFfmpeg(): Promise<Diagnosis> {
  const fix = 'apt-get install -y --no-install-recommends ffmpeg';
  try {
    const child = spawn('ffmpeg', ['-version'], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child, 'spawn');
    return passing('ffmpeg', (await text(child.stdout)).split('\n')[0] ?? '');
  } catch {
    const detail =
      'not found: only 16 kHz mono WAV can be read, and only WAV and PCM written';
    return failing('ffmpeg', detail, fix);
  }
}

/** The Debian libraries of the engines that models.yaml uses. */
export function checkEngineLibraries(models: readonly ModelSpec[]): readonly Diagnosis[] {
  const local = models.filter(({ replicas }) => replicas !== 0);
  return Object.entries(EMBEDDED_LIBRARIES).flatMap(
    ([engine, { load, fix }]): Diagnosis[] => {
      const users = local.filter(model => model.engine === engine).map(({ id }) => id);
      if (users.length === 0) return [];
      try {
        return [passing(engine, `${load()} loads, for ${users.join(', ')}`)];
      } catch (error) {
        const detail = `needed by ${users.join(', ')}: ${(error as Error).message}`;
        return [failing(engine, detail, fix)];
      }
    },
  );
}

/** Free, or taken by a Switchyard that runs: both are well. */
export async function checkPort({ host, port }: Settings['server']): Promise<Diagnosis> {
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

async function isSwitchyard(host: string, port: number): Promise<boolean> {
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
  const state = free < FULL_DISK_BYTES ? 'fail' : 'warn';
  return { what, state, detail, fix: 'make room: uploads and models need it' };
}

export async function checkModelFiles(
  models: readonly ModelSpec[],
  settings: Settings,
  engines: EngineChecks,
): Promise<Diagnosis> {
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

/** Files and batches: a server, or SQLite in the data folder. */
export async function checkDatabase({ database, data }: Settings): Promise<Diagnosis> {
  if (database.url !== '') return checkServer('database', database.url, 'database.url');
  const file = resolve(data.dir, 'switchyard.db');
  const { size } = await stat(file).catch(() => ({ size: undefined }));
  const state = size === undefined ? 'made by the first start' : byteText(size);
  return passing('database', `SQLite, ${file}, ${state} (database.url is empty)`);
}

/** Optional servers, by address only: a handshake would need their secrets here. */
export async function checkServer(
  what: string,
  url: string,
  setting: string,
): Promise<Diagnosis> {
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
