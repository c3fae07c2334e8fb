import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leftover } from './leftovers.js';

export interface NodeProcessOptions {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
  /** Of Node. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where `NAME.log` and, when profiling, `NAME.cpuprofile` are written. */
  readonly folder: string;
  /** Its working folder; absent: that of this process. */
  readonly cwd?: string | undefined;
}

/**
 * One Node process under test: log to a file that is always drained, SIGTERM to stop it,
 * SIGKILL when it hangs.
 */
export class NodeProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #logFile: string;
  readonly #name: string;

  constructor(options: NodeProcessOptions) {
    this.#name = options.name;
    this.#logFile = join(options.folder, `${options.name}.log`);
    this.child = spawn(
      process.execPath,
      [...(options.flags ?? []), ...nodeFlags(options), options.script, ...(options.args ?? [])],
      {
        env: { ...process.env, ...options.env },
        cwd: options.cwd,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const log = createWriteStream(this.#logFile);
    this.child.stdout?.pipe(log);
    this.child.stderr?.pipe(log);
    leftover(() => this[Symbol.asyncDispose]());
  }

  /**
   * Resolves with the first IPC message of that type. Rejects with the end of the log
   * when the process ends first.
   */
  async message<T extends { type: string }>(type: T['type']): Promise<T> {
    return this.untilExit(
      new Promise<T>(resolve => {
        const listen = (message: T): void => {
          if (message.type === type) resolve(message);
          else this.child.once('message', listen);
        };
        this.child.once('message', listen);
      }),
    );
  }

  /** Of a server, as soon as it listens. */
  async port(): Promise<number> {
    return (await this.message<{ type: 'listening'; port: number }>('listening')).port;
  }

  /**
   * `work`, or a rejection that quotes the log when the process ends before it is done.
   */
  async untilExit<T>(work: Promise<T>): Promise<T> {
    const settled = new AbortController();
    const exit = once(this.child, 'exit', { signal: settled.signal }).then(
      async ([code]) => {
        throw new Error(`${this.#name} ended with ${code}:\n${await this.logTail()}`);
      },
      () => new Promise<never>(() => undefined),
    );
    try {
      return await Promise.race([work, exit]);
    } finally {
      settled.abort();
    }
  }

  /** Empty until something is logged. */
  async logTail(): Promise<string> {
    return (await readFile(this.#logFile, 'utf8').catch(() => ''))
      .split('\n')
      .slice(-25)
      .join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const killer = setTimeout(() => this.child.kill('SIGKILL'), 15_000);
    await exited;
    clearTimeout(killer);
  }
}

/** `BENCH_NODE_FLAGS`, e.g. `--cpu-prof`, with each profile named after its process. */
function nodeFlags({ name, folder }: NodeProcessOptions): string[] {
  const flags = process.env.BENCH_NODE_FLAGS?.split(' ').filter(Boolean) ?? [];
  const profiling = flags.includes('--cpu-prof');
  return profiling
    ? [...flags, `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`]
    : flags;
}
