import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { command } from '../setup/command.mjs';

const USER = 1000;
const NAMESPACES = ['pid', 'ipc', 'uts', 'mount'].map(type => ({ type }));
const mount = (type, destination, options = [], source = type) => ({
  ...{ type, source, destination },
  options: ['nosuid', ...options],
});

/**
 * A container that runc runs: as the user of its image, on a read-only root, without
 * capabilities, in namespaces of its own except the network's. /app/data is a folder of this
 * machine, /tmp is in memory.
 */
export class OciContainer {
  #bundle;
  #remove;
  #process;
  #output = '';

  constructor(bundle, remove) {
    this.#bundle = bundle;
    this.#remove = remove;
  }

  /**
   * @param options `bundle`: a folder for it, which is made anew; `root`: the files of its image; `mounts`: files of
   *   this machine, by their place inside; `remove`: removes the root
   * @returns a container that is starting
   */
  static async start({ bundle, root, config, remove, mounts }) {
    const container = new OciContainer(bundle, remove);
    rmSync(bundle, { recursive: true, force: true });
    const data = join(bundle, 'data');
    mkdirSync(data, { recursive: true });
    chownSync(data, USER, USER);
    const port = await freePort();
    container.url = `http://127.0.0.1:${port}`;
    const inside = specOf({ root, config, data, mounts, env: [`SWITCHYARD_SERVER_PORT=${port}`] });
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(inside));
    container.start();
    return container;
  }

  get #name() {
    return `switchyard-${process.pid}-${this.#bundle.split('/').at(-1)}`;
  }

  /** Again with the same data, too. */
  start() {
    this.#process = spawn('runc', ['run', '--bundle', this.#bundle, this.#name], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream.on('data', chunk => (this.#output += chunk));
  }

  logs() {
    return this.#output;
  }

  isRunning() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Runs a command of the image in it. */
  exec(...args) {
    return command('runc', ['exec', this.#name, ...args]);
  }

  /** Asks it to end, and kills it after `graceMs`. @returns its exit code; 137: killed */
  async stop(graceMs = 25_000) {
    if (!this.isRunning()) return this.#process.exitCode;
    const exited = once(this.#process, 'exit');
    await command('runc', ['kill', this.#name, 'TERM']);
    const kill = setTimeout(() => command('runc', ['kill', this.#name, 'KILL']), graceMs);
    const [code] = await exited;
    clearTimeout(kill);
    return code;
  }

  async remove() {
    await this.stop(0);
    await command('runc', ['delete', '--force', this.#name]);
    await this.#remove();
  }
}

function specOf({ root, config, data, env, mounts }) {
  const ofMachine = Object.entries({ '/etc/resolv.conf': '/etc/resolv.conf', ...mounts })
    .filter(([, source]) => existsSync(source))
    .map(([inside, source]) => mount('bind', inside, ['bind', 'ro'], source));
  return {
    ociVersion: '1.0.2',
    hostname: 'switchyard',
    root: { path: root, readonly: true },
    process: {
      user: { uid: USER, gid: USER },
      args: [...(config.Entrypoint ?? []), ...config.Cmd],
      env: [...config.Env, ...env],
      cwd: config.WorkingDir,
      noNewPrivileges: true,
    },
    mounts: [
      mount('proc', '/proc'),
      mount('tmpfs', '/dev', ['mode=755']),
      mount('tmpfs', '/tmp', ['mode=1777']),
      mount('bind', '/app/data', ['bind', 'rw'], data),
      ...ofMachine,
    ],
    linux: { namespaces: NAMESPACES },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
