import { command, inRoot, lastLines } from '../setup/command.mjs';
import { done, SetupError } from '../setup/report.mjs';

async function docker(...args) {
  const { code, output } = await command('docker', args, { env: process.env });
  if (code !== 0) throw new SetupError(`docker ${args[0]} failed:\n${lastLines(output)}`);
  return output.trim();
}

/** Images by a Docker daemon; the same methods as `Buildah` has. */
export class Docker {
  static async isHere() {
    return (await command('docker', ['info'])).code === 0;
  }

  static open() {
    return new Docker();
  }

  build(target, tag) {
    return docker(
      'build',
      '--target',
      target,
      '-t',
      tag,
      '-f',
      inRoot('docker/Dockerfile'),
      inRoot(),
    );
  }

  async size(tag) {
    return Number(await docker('image', 'inspect', '--format={{.Size}}', tag));
  }

  save(tag, file) {
    return docker('save', '--output', file, tag);
  }

  start(tag) {
    return DockerContainer.start(tag);
  }

  /** The images stay: the daemon has others, too. */
  close() {
    done('images', 'stay with Docker, as switchyard-TARGET:built');
  }
}

class DockerContainer {
  #name = `switchyard-smoke-${process.pid}`;

  static async start(tag) {
    const container = new DockerContainer();
    const name = container.#name;
    const confined = [
      '--read-only',
      '--tmpfs=/tmp',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
    ];
    const reached = ['--volume', `${name}:/app/data`, '--publish', '127.0.0.1::8000'];
    await docker('run', '--detach', '--name', name, ...confined, ...reached, tag);
    await container.#locate();
    return container;
  }

  /** Docker may give it another port each time it starts. */
  async #locate() {
    this.url = `http://${await docker('port', this.#name, '8000/tcp')}`;
  }

  logs() {
    return docker('logs', this.#name);
  }

  async isRunning() {
    return (await docker('inspect', '--format={{.State.Running}}', this.#name)) === 'true';
  }

  exec(...args) {
    return command('docker', ['exec', this.#name, ...args]);
  }

  async stop() {
    await docker('stop', '--time=25', this.#name);
    return Number(await docker('inspect', '--format={{.State.ExitCode}}', this.#name));
  }

  async start() {
    await docker('start', this.#name);
    await this.#locate();
  }

  async remove() {
    await docker('rm', '--force', this.#name);
    await docker('volume', 'rm', this.#name);
  }
}
