import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { command, inRoot, lastLines } from '../setup/command.mjs';
import { done, doing, SetupError } from '../setup/report.mjs';
import { CERTIFICATES, makeBases } from './debian-base.mjs';
import { OciContainer } from './oci-container.mjs';
import { neededStages } from './stages.mjs';

/** The innermost first. */
const mountsBelow = folder =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(mounted => mounted.startsWith(`${folder}/`))
    .toReversed();

const TOOLS = ['buildah', 'mmdebstrap', 'runc'];
const BASE = 'docker.io/library/node:24-bookworm-slim';
/** Settings of npm, pip and TLS of this machine that a build needs where a mirror serves the packages. */
const SETTINGS = [
  ['/etc/npmrc', '/usr/local/etc/npmrc'],
  [join(homedir(), '.npmrc'), '/root/.npmrc'],
  ['/etc/pip.conf', '/etc/pip.conf'],
];

/**
 * Images without a daemon: buildah builds them, runc runs them. Everything is in one folder,
 * which `close` removes.
 */
export class Buildah {
  #folder = inRoot('node_modules/.cache/switchyard-images');
  /** vfs copies each layer as a whole, and works on every file system. */
  #driver = 'overlay';

  /** @throws SetupError that says what is missing */
  static async open({ base }) {
    await ensureTools();
    const engine = new Buildah();
    mkdirSync(engine.#folder, { recursive: true });
    engine.#claim();
    if ((await engine.#try('info')).code !== 0) engine.#driver = 'vfs';
    // What an interrupted run has left: its layers are used again.
    await engine.#run('rm', '--all');
    await engine.#ensureBase(base);
    return engine;
  }

  /** One run at a time: two would remove each other's containers. */
  #claim() {
    const file = join(this.#folder, 'owner');
    const owner = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
    if (owner !== undefined && isAlive(owner))
      throw new SetupError(`another npm run images runs here (process ${owner}): wait for its end`);
    writeFileSync(file, String(process.pid));
  }

  /** Unmounts what is left of a failed build and of an interrupted run, too. */
  async close() {
    if (existsSync(this.#folder)) await this.#try('umount', '--all');
    for (const folder of mountsBelow(this.#folder)) await command('umount', [folder]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ensureBase(base) {
    if ((await this.#try('inspect', '--type=image', BASE)).code === 0)
      return done('base', 'is there');
    if (base !== 'debian' && (await this.#try('pull', '--quiet', BASE)).code === 0)
      return done('base', BASE);
    if (base === 'published') throw new SetupError(`${BASE} cannot be pulled`);
    await makeBases((...args) => this.#run(...args), join(this.#folder, 'base'));
  }

  #try(...args) {
    const [root, runroot] = ['root', 'run'].map(name => join(this.#folder, name));
    const storage = ['--root', root, '--runroot', runroot, '--storage-driver', this.#driver];
    return command('nice', ['-n', '10', 'buildah', ...storage, ...args], { env: process.env });
  }

  async #run(...args) {
    const { code, output } = await this.#try(...args);
    if (code !== 0)
      throw new SetupError(
        `buildah ${args[0]} failed:\n${output.split('\n').slice(-30).join('\n')}`,
      );
    return output.trim();
  }

  async build(target, tag) {
    const settings = SETTINGS.filter(([from]) => existsSync(from));
    const volumes = settings.flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]);
    // Debian's own may be installed over it: what a step writes there is dropped.
    const folder = dirname(CERTIFICATES);
    if (existsSync(folder)) volumes.push('--volume', `${folder}:${folder}:O`);
    const file = join(this.#folder, 'Dockerfile');
    writeFileSync(file, neededStages(readFileSync(inRoot('docker/Dockerfile'), 'utf8'), target));
    // Layers stay, so that targets share their stages.
    const how = ['--pull-never', '--network=host', '--isolation=chroot', '--layers'];
    await this.#run('bud', ...how, ...volumes, '-f', file, '-t', tag, inRoot());
  }

  /**
   * Prepares the image for one container after another. @returns the folder of its files, its
   * configuration, and what removes it
   */
  async #mounted(tag) {
    const name = await this.#run('from', '--pull-never', tag);
    const root = await this.#run('mount', name);
    return { name, root, remove: () => this.#run('rm', name) };
  }

  /** @returns a container of it that is starting */
  async start(tag) {
    const { OCIv1 } = JSON.parse(await this.#run('inspect', '--type=image', tag));
    const { name, root, remove } = await this.#mounted(tag);
    const bundle = join(this.#folder, name);
    const settings = [...SETTINGS, [CERTIFICATES, CERTIFICATES]];
    const mounts = Object.fromEntries(settings.map(([from, to]) => [to, from]));
    return OciContainer.start({ bundle, root, config: OCIv1.config, remove, mounts });
  }

  save(tag, file) {
    return this.#run('push', '--quiet', tag, `oci-archive:${file}`);
  }

  /** @returns bytes on disk */
  async size(tag) {
    const { root, remove } = await this.#mounted(tag);
    const { output } = await command('du', ['-sB1', root]);
    await remove();
    return Number.parseInt(output);
  }
}

async function ensureTools() {
  if (process.getuid?.() !== 0)
    throw new SetupError(
      'no Docker here, and buildah and runc are used as root: run this as root, or install Docker',
    );
  const found = await Promise.all(TOOLS.map(name => command(name, ['--version'])));
  const missing = TOOLS.filter((_, at) => found[at].code === 127);
  if (missing.length === 0) return;
  doing(`apt-get install ${missing.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await command('apt-get', ['update'], { env });
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  const { code, output } = await command('apt-get', install, { env });
  if (code !== 0)
    throw new SetupError(
      `${missing.join(', ')} cannot be installed: they are in Debian 12 and newer.\n${lastLines(output)}`,
    );
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
