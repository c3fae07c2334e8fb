import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OPTIONS = { maxBuffer: 64 * 1024 * 1024, timeout: 900_000 };

/** Outside of the repository: peers are no dependencies of the product. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'switchyard', 'league');

/** A program of somebody else, installed. */
export interface Peer {
  readonly program: string;
  readonly args: readonly string[];
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
  if (!existsSync(home)) await run('npm', ['install', '--prefix', path, '--no-audit', '@portkey-ai/gateway'], OPTIONS);
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  return { program: process.execPath, args: [join(home, 'build', 'start-server.js'), '--headless'], version };
}

/** https://pypi.org/project/litellm/ */
export async function litellm(): Promise<Peer> {
  const path = await folder('litellm');
  const program = join(path, 'bin', 'litellm');
  const python = join(path, 'bin', 'python');
  if (!existsSync(program)) {
    await run('python3', ['-m', 'venv', path], OPTIONS);
    await run(python, ['-m', 'pip', 'install', '--quiet', 'litellm[proxy]'], OPTIONS);
  }
  const ask = 'from importlib.metadata import version; print(version("litellm"))';
  return { program, args: [], version: (await run(python, ['-c', ask], OPTIONS)).stdout.trim() };
}

/** Debian's package, unpacked without being installed. */
export async function nginx(): Promise<Peer> {
  const path = await folder('nginx');
  const program = join(path, 'usr', 'sbin', 'nginx');
  if (!existsSync(program)) {
    await run('apt-get', ['download', 'nginx'], { ...OPTIONS, cwd: path });
    const name = readdirSync(path).find(file => file.endsWith('.deb'));
    await run('dpkg-deb', ['-x', join(path, name ?? ''), path], OPTIONS);
  }
  const { stderr } = await run(program, ['-v'], OPTIONS);
  return { program, args: [], version: /nginx\/(\S+)/.exec(stderr)?.[1] ?? 'unknown' };
}
