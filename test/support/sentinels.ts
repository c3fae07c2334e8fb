import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { BINARY, RedisServer } from './redis-server.js';
import { temporaryFolder } from './temporary-folder.js';

const PASSWORD = 'secret';
/** A master is down when it was silent for this long. */
const SILENT_MS = 1000;

/** A primary, its replica and three Sentinels that watch them, all with a password. */
export class Sentinels implements AsyncDisposable {
  readonly masterName = 'mine';
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly primary: RedisServer,
    readonly replica: RedisServer,
    private readonly ports: readonly number[],
  ) {}

  static async start(): Promise<Sentinels> {
    const secret = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
    const primary = await RedisServer.start(...secret);
    const replica = await RedisServer.start(
      ...secret,
      ...['--replicaof', `127.0.0.1 ${primary.port}`, '--repl-diskless-sync-delay', '0'],
    );
    const ports = [await freePort(), await freePort(), await freePort()];
    const crew = new Sentinels(primary, replica, ports);
    await Promise.all(ports.map(port => crew.#watch(port)));
    return crew;
  }

  /** For `redis.sentinels`. */
  get url(): string {
    return `redis://:${PASSWORD}@${this.ports.map(port => `127.0.0.1:${port}`).join(',')}`;
  }

  /** Of one server, with the password. */
  urlOf({ port }: RedisServer): string {
    return `redis://:${PASSWORD}@127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#ends.map(end => end()));
    this.replica.resume();
    await Promise.all([this.primary.kill(), this.replica.kill()]);
  }

  /** Resolves when the Sentinel knows the replica and both of the others. */
  async #watch(port: number): Promise<void> {
    const name = this.masterName;
    const file = join(temporaryFolder(), 'sentinel.conf');
    const watched = `${name} 127.0.0.1 ${this.primary.port} 2`;
    writeFileSync(
      file,
      `port ${port}\nbind 127.0.0.1\nsentinel monitor ${watched}\nsentinel auth-pass ${name} ${PASSWORD}\n` +
        `sentinel down-after-milliseconds ${name} ${SILENT_MS}\nsentinel failover-timeout ${name} 5000\n`,
    );
    const child = spawn(BINARY, [file, '--sentinel'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#ends.push(async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`the Sentinel ended:\n${log}`)));
      child.stdout.on('data', chunk => {
        log += String(chunk);
        if (log.includes('+slave ') && log.split('+sentinel ').length > 2) resolve();
      });
    });
  }
}
