import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from './free-port.js';
import { leftover } from './leftovers.js';
import { temporaryFolder } from './temporary-folder.js';

/** `REDIS_SERVER` names another one, such as that of Valkey. */
export const BINARY = process.env.REDIS_SERVER ?? '/usr/bin/redis-server';

export const hasRedis = existsSync(BINARY);

/**
 * A Redis of its own: a free port of loopback, nothing saved. It can be killed and
 * started again on the same port.
 */
export class RedisServer implements AsyncDisposable {
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly flags: readonly string[],
  ) {}

  /** @param flags besides: of `redis-server` */
  static async start(...flags: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), temporaryFolder(), flags);
    leftover(() => server.kill());
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it takes connections. */
  async restart(): Promise<void> {
    const flags = [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      this.folder,
      ...this.flags,
    ];
    const child = spawn(BINARY, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on(
        'data',
        chunk => String(chunk).includes('Ready to accept connections') && resolve(),
      );
      child.once('error', error =>
        reject(new Error(`${BINARY} cannot be started: ${error.message}`)),
      );
      child.once('exit', code => reject(new Error(`redis-server ended with ${code}`)));
    });
    await ready;
  }

  /** It hangs: connections stay, nothing is answered. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
