import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OPTIONS = { maxBuffer: 64 * 1024 * 1024, timeout: 900_000 };

/** Outside of the repository: peers are no dependencies of the product. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'switchyard', 'league');

/** A program of somebody else, installed. */
export interface Peer {
  readonly program: string;
  readonly args: readonly string[];
  /** Beside the bench's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly version: string;
}

async function folder(name: string): Promise<string> {
  const path = join(CACHE, name);
  await mkdir(path, { recursive: true });
  return path;
}

/** https://www.npmjs.com/package/@portkey-ai/gateway */
export async function portkey(): Promise<Peer> {
  const path = await folder('portkey');
  const home = join(path, 'node_modules', '@portkey-ai', 'gateway');
  if (!existsSync(home))
    await run('npm', ['install', '--prefix', path, '--no-audit', '@portkey-ai/gateway'], OPTIONS);
  const args = [join(home, 'build', 'start-server.js'), '--headless'];
  return { program: process.execPath, args, version: await versionOf(home) };
}

/** Of an npm package. */
export async function versionOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** https://pypi.org/project/litellm/ */
export async function litellm(): Promise<Peer> {
  const { program, version } = await python('litellm', 'litellm[proxy]==1.106.2');
  return { program: join(dirname(program), 'litellm'), args: [], version };
}

export const litellmArgs = (config: string, port: number): readonly string[] => [
  ...['--config', config, '--host', '127.0.0.1', '--port', String(port)],
  ...['--num_workers', '1', '--telemetry', 'False'],
];

/**
 * A Python whose virtual environment has these packages.
 * @param name of the package whose version is returned, and of the environment
 */
export async function python(name: string, ...packages: readonly string[]): Promise<Peer> {
  const path = await folder(name);
  const program = join(path, 'bin', 'python');
  const ask = () =>
    run(
      program,
      ['-c', `from importlib.metadata import version; print(version("${name}"))`],
      OPTIONS,
    );
  const { stdout } = await ask().catch(async () => {
    await run('python3', ['-m', 'venv', path], OPTIONS);
    await run(program, ['-m', 'pip', 'install', '--quiet', ...packages], OPTIONS);
    return ask();
  });
  return { program, args: [], version: stdout.trim() };
}

export const nginx = (): Promise<Peer> => unpacked('nginx', /nginx\/(\S+)/);

export const haproxy = (): Promise<Peer> => unpacked('haproxy', /version (\S+)/);

/**
 * A server from Debian and what it depends on that is not here, unpacked
 * without being installed.
 */
async function unpacked(name: string, told: RegExp): Promise<Peer> {
  const path = await folder(name);
  const program = join(path, 'usr', 'sbin', name);
  if (!existsSync(program)) {
    const plan = ['--print-uris', '--reinstall', '--yes', '--no-install-recommends', name];
    const { stdout } = await run('apt-get', ['install', ...plan], OPTIONS);
    const names = [...stdout.matchAll(/^'\S+' ([^_\s]+)_/gm)].map(([, wanted]) => wanted!);
    await run('apt-get', ['download', ...names], { ...OPTIONS, cwd: path });
    const files = readdirSync(path).filter(file => file.endsWith('.deb'));
    for (const file of files) await run('dpkg-deb', ['-x', file, path], { ...OPTIONS, cwd: path });
  }
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const env = { LD_LIBRARY_PATH: join(path, 'usr', 'lib', `${machine}-linux-gnu`) };
  const { stdout, stderr } = await run(program, ['-v'], {
    ...OPTIONS,
    env: { ...process.env, ...env },
  });
  const version = told.exec(stdout + stderr)?.[1] ?? 'unknown';
  return { program, args: [], env, version };
}
