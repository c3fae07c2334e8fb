import { ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { type Socket } from 'node:net';
import { type Readable } from 'node:stream';
import { type Fields } from '../is-object.js';
import { LastLines } from './last-lines.js';
import { LogLineSplitter, OutputBound } from './output-lines.js';

/**
 * As Node's `spawn`, except that every failure of the system is the event `error`: Node throws
 * some (ENOMEM, E2BIG). A process that was not started may have no streams.
 */
export function start(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  try {
    return spawn(command, args, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const child = new ChildProcess();
    process.nextTick(() => child.emit('error', error));
    return child;
  }
}

/** Running children; true: it leads a process group, and all of that is killed with it. */
const living = new Map<ChildProcess, boolean>();

/**
 * Ends every child process at once. Their supervisors start successors unless
 * they are closing.
 */
export function killGuarded(): void {
  for (const [child, leads] of living) signal(child, 'SIGKILL', leads);
}

/** @param leads true: the signal goes to the whole process group that the child leads */
function signal(child: ChildProcess, name: NodeJS.Signals, leads: boolean): void {
  if (!leads || child.pid === undefined) return void child.kill(name);
  try {
    process.kill(-child.pid, name);
  } catch {
    // No process of the group is left.
  }
}

/**
 * Kills `child` when this process ends without having stopped it: at once after
 * an uncaught exception or `process.exit`, and `limitMs` after this process was
 * itself killed with SIGKILL. A child exits by itself when its IPC channel
 * closes (`parent-loss`); the watcher ends those that are stopped, hung in
 * native code or blocked.
 * @returns a function to call after the child has ended by itself
 */
export function guard(child: ChildProcess, limitMs: number, leads = false): () => void {
  if (living.size === 0) process.on('exit', killGuarded);
  const watcher = watch(child, limitMs, leads);
  living.set(child, leads);
  return () => {
    watcher.stdin?.end('ended\n');
    living.delete(child);
    if (living.size === 0) process.off('exit', killGuarded);
  };
}

/** `read` fails when the pipe closes without a line: this process is gone. */
const WATCH = 'trap \'\' HUP INT TERM; read -r ended || { sleep "$2"; kill -9 "$1"; }';

/**
 * A shell of its own session: it depends on neither event loop, works for children in any
 * language and costs less than 1 MB. Where there is no POSIX shell, only `parent-loss`
 * ends the children of a killed process.
 */
function watch({ pid }: ChildProcess, limitMs: number, leads: boolean): ChildProcess {
  const target = `${leads ? '-' : ''}${pid}`;
  const args = [
    '-c',
    pid === undefined ? ':' : WATCH,
    'orphan-guard',
    target,
    String(limitMs / 1000),
  ];
  const watcher = start('/bin/sh', args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  watcher.on('error', () => undefined);
  watcher.stdin?.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as Partial<Socket> | undefined)?.unref?.();
  return watcher;
}

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why this side ended the process, or why it could not be started. */
  readonly reason?: string;
  /**
   * It said itself, with that reason, that it cannot start: another try can be expected
   * to say the same.
   */
  readonly startFailed?: boolean;
  /** The last lines it wrote, oldest first, at most 50. */
  readonly lines: readonly string[];
}

/** Why a process ended, in one line. */
export function exitText({ code, signal: name, reason, lines }: ProcessExit): string {
  if (reason !== undefined) return reason;
  const last = lines.at(-1);
  const how = name === null ? `with code ${code}` : `by ${name}`;
  return `its process ended ${how}${last === undefined ? '' : `: ${last}`}`;
}

interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** `advanced` carries typed arrays as they are; both ends are Node. Absent: `json`. */
  readonly serialization?: 'json' | 'advanced';
  /**
   * How long it may live on when this process is killed, until it is killed as well
   * (3000). It should end earlier by itself.
   */
  readonly orphanLimitMs?: number;
  /**
   * A program that is not ours: no IPC, bounded output, and a process group of its own,
   * so that what it forks ends with it.
   */
  readonly foreign?: boolean;
  /**
   * Objects over IPC. The text of `{ type: 'failed', message }` also becomes the reason
   * of the exit.
   */
  onMessage(message: Fields): void;
  /** Once, after the process has ended or could not be started. */
  onExit(exit: ProcessExit): void;
  onLine(stream: 'stdout' | 'stderr', line: string): void;
}

const LAST_LINES = 50;
/**
 * How long the pipes of a foreign program that has ended may hold its exit back: who left
 * its group has them too.
 */
const LAST_WORDS_MS = 1000;
/**
 * A worker cancels what it runs, a batch processor writes its checkpoint and
 * releases its lease.
 */
const ORPHAN_LIMIT_MS = 3000;

/**
 * One child process from spawn to exit. Its output is read from the first byte to the
 * last: a pipe that is not read freezes its writer after 64 KiB.
 */
export class SupervisedProcess {
  readonly #child: ChildProcess;
  readonly #unguard: () => void;
  readonly #last = new LastLines(LAST_LINES);
  readonly #foreign: boolean;
  readonly #bound: OutputBound | undefined;
  #reason: string | undefined;
  #startFailed = false;
  #ended = false;

  constructor(private readonly options: ProcessOptions) {
    this.#foreign = options.foreign ?? false;
    if (this.#foreign) this.#bound = new OutputBound(excess => options.onLine('stderr', excess));
    this.#child = start(options.command, options.args, {
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe', ...(this.#foreign ? [] : ['ipc' as const])],
      serialization: options.serialization ?? 'json',
      detached: this.#foreign,
    });
    this.#unguard = guard(this.#child, options.orphanLimitMs ?? ORPHAN_LIMIT_MS, this.#foreign);
    this.#drain('stdout', this.#child.stdout);
    this.#drain('stderr', this.#child.stderr);
    this.#child.on('message', message => this.#onMessage(message));
    this.#child.on('error', error => this.#onError(error));
    this.#child.once('exit', (code, name) => this.#onEnded(code, name));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** A problem of the running process; undefined: none is known. */
  get problem(): string | undefined {
    return this.#bound?.problem;
  }

  /** Sends a message. It is lost when the process has ended, which `onExit` reports. */
  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Asks it to drain and exit. */
  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  /** Ends it whatever it does, stopped or hung. `reason` is reported by the exit. */
  kill(reason: string): void {
    this.#reason ??= reason;
    signal(this.#child, 'SIGKILL', this.#foreign);
  }

  #drain(name: 'stdout' | 'stderr', stream: Readable | null): void {
    const lines = new LogLineSplitter(line => {
      this.#last.add(line);
      this.options.onLine(name, line);
    });
    stream?.on(
      'data',
      (chunk: Buffer) => (this.#bound?.admits(chunk.length) ?? true) && lines.push(chunk),
    );
    stream?.once('end', () => lines.end());
  }

  #onMessage(message: unknown): void {
    const received = (message ?? {}) as Fields;
    if (received.type === 'failed' && typeof received.message === 'string') {
      this.#startFailed = this.#reason === undefined;
      this.#reason ??= received.message;
    }
    this.options.onMessage(received);
  }

  /**
   * What a foreign program forked may live on and hold its port. Its last words, which
   * say why, may be in the pipes.
   */
  #onEnded(code: number | null, name: NodeJS.Signals | null): void {
    if (!this.#foreign) return this.#onExit(code, name);
    signal(this.#child, 'SIGKILL', true);
    const end = (): void => this.#onExit(code, name);
    const timer = setTimeout(end, LAST_WORDS_MS);
    this.#child.once('close', () => {
      clearTimeout(timer);
      end();
    });
  }

  /**
   * Also emitted when a signal or a message cannot be delivered: only a process without a
   * pid never started.
   */
  #onError(error: Error): void {
    if (this.#child.pid !== undefined) return this.options.onLine('stderr', error.message);
    this.#reason ??= startProblem(error, this.options.command);
    this.#onExit(null, null);
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unguard();
    this.#bound?.end();
    const last = this.#last;
    this.options.onExit({
      code,
      signal,
      reason: this.#reason,
      startFailed: this.#startFailed || undefined,
      // Read when asked: the pipes may deliver the last words after the exit.
      get lines() {
        return last.lines;
      },
    });
  }
}

function startProblem({ code, message }: NodeJS.ErrnoException, command: string): string {
  if (code === 'ENOENT') return `cannot start ${command}: no such program (ENOENT)`;
  return code === 'EACCES' ? `cannot start ${command}: it may not be executed (EACCES)` : message;
}
