import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { leftover } from './leftovers.js';

const VERSIONS = '/usr/lib/postgresql';
const START_MS = 30_000;

/**
 * A real PostgreSQL of its own: Debian's binaries, a new cluster in a temporary
 * folder, loopback only.
 */
export class PostgresServer implements AsyncDisposable {
  #server: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-postgres-'));
    const account = serverAccount();
    if (account) chownSync(folder, account.uid, account.gid);
    chmodSync(folder, 0o700);
    const initdb = [
      '-D',
      folder,
      '-U',
      'switchyard',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-sync',
      '--no-locale',
    ];
    execFileSync(binary('initdb'), initdb, { stdio: 'pipe', cwd: folder, ...account });
    const server = new PostgresServer(folder, await freePort());
    leftover(() => server[Symbol.asyncDispose]());
    await server.launch();
    return server;
  }

  /** Of a database that is empty whenever its name is new. */
  url(database = 'postgres'): string {
    return `postgres://switchyard@127.0.0.1:${this.port}/${database}`;
  }

  createDatabase(name: string): string {
    execFileSync(binary('createdb'), [...this.#client, name]);
    return this.url(name);
  }

  /** Arguments with which PostgreSQL's own commands reach it. */
  get #client(): readonly string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'switchyard'];
  }

  async launch(): Promise<void> {
    const options = [
      '-D',
      this.folder,
      '-p',
      String(this.port),
      '-h',
      '127.0.0.1',
      '-k',
      this.folder,
      '-F',
    ];
    this.#server = spawn(binary('postgres'), options, {
      stdio: 'ignore',
      cwd: this.folder,
      ...serverAccount(),
    });
    const deadline = Date.now() + START_MS;
    while (!this.#accepts()) {
      if (Date.now() > deadline || this.#server.exitCode !== null)
        throw new Error('PostgreSQL did not start');
      await sleep(50);
    }
  }

  /** As a crash of the machine would: no checkpoint, no farewell to clients. */
  async kill(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /**
   * The server and its sessions take connections and answer nothing, as on a
   * machine that hangs.
   */
  freeze(): void {
    this.#signalAll('SIGSTOP');
  }

  thaw(): void {
    this.#signalAll('SIGCONT');
  }

  /**
   * As a standby that took over but was not promoted: sessions that exist refuse writes
   * from their next statement.
   */
  setReadOnly(readOnly: boolean): void {
    const database = [...this.#client, '-d', 'postgres'];
    const value = `ALTER SYSTEM SET default_transaction_read_only = ${readOnly ? 'on' : 'off'}`;
    execFileSync(
      binary('psql'),
      [...database, '-q', '-c', value, '-c', 'SELECT pg_reload_conf()'],
      { stdio: 'pipe' },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGINT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    // Undefined: never started; a number: gone.
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  }

  #signalAll(signal: NodeJS.Signals): void {
    const pid = this.#server?.pid;
    if (pid === undefined) throw new Error('PostgreSQL does not run');
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], {
      encoding: 'utf8',
    });
    for (const one of [pid, ...children.split('\n').filter(Boolean).map(Number)])
      process.kill(one, signal);
  }

  #accepts(): boolean {
    try {
      execFileSync(binary('pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(this.port)]);
      return true;
    } catch {
      return false;
    }
  }
}

function binary(name: string): string {
  const [version] = existsSync(VERSIONS)
    ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a))
    : [];
  if (version === undefined)
    throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  return join(VERSIONS, version, 'bin', name);
}

/** PostgreSQL refuses to run as root; Debian's package made an account for it. */
function serverAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
