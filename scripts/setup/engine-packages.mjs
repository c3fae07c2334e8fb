import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { command, lastLines } from './command.mjs';
import { doing, done, warn } from './report.mjs';

/** Debian's name of this machine's own library folder. */
const multiarch = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;

/**
 * What engines need from Debian. `proof`: whether it is there; `brew`: Homebrew's
 * name where it has one that works.
 */
const ENGINE_PACKAGES = [
  {
    name: 'ffmpeg',
    brew: 'ffmpeg',
    why: 'decodes uploads, encodes speech',
    proof: () => onPath('ffmpeg'),
  },
  {
    name: 'espeak-ng-data',
    brew: 'espeak-ng',
    why: 'pronunciation for Piper voices',
    proof: () =>
      ['share', 'lib', `lib/${multiarch}`].some(folder =>
        existsSync(`/usr/${folder}/espeak-ng-data`),
      ),
  },
];

/** What a cluster stands on (`up --topology cluster`). */
const CLUSTER_PACKAGES = [
  {
    name: 'redis-server',
    brew: 'redis',
    why: 'what several gateways share',
    proof: () => existsSync('/usr/bin/redis-server'),
  },
  {
    name: 'postgresql',
    brew: 'postgresql@17',
    why: 'files and batches on PostgreSQL',
    proof: () => existsSync('/usr/lib/postgresql'),
  },
];

/** What specs of `npm run test:gate` use besides. */
const GATE_PACKAGES = [
  { name: 'curl', why: 'commands of the tutorials', proof: () => onPath('curl') },
  { name: 'jq', why: 'commands of the tutorials', proof: () => onPath('jq') },
  {
    name: 'python3-venv',
    why: 'workers and clients in Python',
    proof: async () => (await command('python3', ['-c', 'import ensurepip, venv'])).code === 0,
  },
  {
    name: 'python3-pip',
    why: 'models from Python packages',
    proof: async () => (await command('python3', ['-m', 'pip', '--version'])).code === 0,
  },
];

const NIGHT_PACKAGES = [
  {
    name: 'chromium',
    why: 'the console in a real browser',
    proof: () => existsSync('/usr/bin/chromium'),
  },
];

/**
 * What engines, a cluster and the tiers of tests stand on. Apart, so that a failure there
 * leaves the engines alone.
 */
const SETS = {
  engine: { packages: ENGINE_PACKAGES, present: 'ffmpeg, espeak-ng-data' },
  cluster: { packages: CLUSTER_PACKAGES, present: 'redis-server, postgresql' },
  gate: { packages: GATE_PACKAGES, present: 'curl, jq, python3 with venv and pip' },
  night: { packages: NIGHT_PACKAGES, present: 'chromium' },
};

/**
 * Installs missing Debian packages where it may; elsewhere prints the command and
 * continues. @returns names still missing
 */
export async function ensureDebianPackages(set, { install = true } = {}) {
  const { packages, present } = SETS[set];
  const what = `${set} packages`;
  const missing = await missingOf(packages);
  if (missing.length === 0) {
    done(what, present);
    return [];
  }
  const names = missing.map(({ name }) => name);
  for (const { name, why } of missing) doing(`missing: ${name}`, why);
  const root = install ? await rootPrefix() : undefined;
  if (!root || !(await aptInstall(root, names, what))) {
    warn(`Not installed: ${names.join(', ')}. What needs them will say so. To install them:`);
    warn(`  ${repair(missing)}`);
  }
  const left = (await missingOf(packages)).map(({ name }) => name);
  if (left.length === 0) done(what, 'installed');
  return left;
}

async function missingOf(packages) {
  const there = await Promise.all(packages.map(({ proof }) => proof()));
  return packages.filter((_, at) => !there[at]);
}

/** @returns the command that installs what this system's packages have of it */
export function repair(packages, platform = process.platform) {
  if (platform === 'darwin')
    return `brew install ${packages.flatMap(({ brew }) => brew ?? []).join(' ')}; the rest by container`;
  const names = packages.map(({ name }) => name).join(' ');
  return `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names}`;
}

/** Folders of PATH; the separator is the platform's. */
export const programFolders = (path = process.env.PATH ?? '', separator = delimiter) =>
  path.split(separator).filter(Boolean);

const onPath = name => programFolders().some(folder => existsSync(join(folder, name)));

/**
 * How to become root without asking anybody: [] as root, sudo where it needs no password,
 * undefined elsewhere.
 */
async function rootPrefix() {
  if ((await command('apt-get', ['--version'])).code !== 0) return undefined;
  if (process.getuid?.() === 0) return [];
  return (await command('sudo', ['-n', 'true'])).code === 0 ? ['sudo', '-n'] : undefined;
}

async function aptInstall(root, names, what) {
  doing(`apt-get install ${names.join(' ')}`, what);
  const [file, ...before] = [...root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  const apt = (...args) => command(file, [...before, ...args]);
  const install = () => apt('install', '-y', '--no-install-recommends', ...names);
  if ((await install()).code === 0) return true;
  // A machine that never ran it has no package lists yet.
  await apt('update');
  const { code, output } = await install();
  if (code !== 0) warn(lastLines(output));
  return code === 0;
}
