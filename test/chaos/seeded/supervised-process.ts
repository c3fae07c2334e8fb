import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type MemberSpec } from '../../../scripts/topology/servers.mjs';
import { processTree } from '../../support/process-tree.js';

/** As `restart: always` would wait. */
const RESTART_MS = 500;
/** A process that has lived longer has started. */
const START_MS = 15_000;

export interface ProcessSpec extends Omit<MemberSpec, 'kind'> {
  readonly kind: MemberSpec['kind'] | 'upstream' | 's3';
}

/** How a process ended that was told to. */
export interface Ending {
  readonly ms: number;
  /** Exit code, or the signal that ended it. */
  readonly by: number | string;
  /** It had not ended within the limit, and was not stopped by SIGSTOP meanwhile. */
  readonly isLate: boolean;
  /** How long it had lived when it was told. */
  readonly ageMs: number;
}

/**
 * One process of the topology. One that ends by itself is reported and started again; a
 * fault says what comes after.
 */
export class SupervisedProcess {
  #child: ChildProcess | undefined;
  #isWanted = false;
  #isExpectedToEnd = false;
  #ending: { readonly child: ChildProcess; readonly end: Promise<Ending> } | undefined;
  #startedAtMs = 0;
  /** When it was last stopped by SIGSTOP; Infinity: it is now. */
  #stoppedUntilMs = 0;

  #isUpgraded = false;

  /** @param before what it runs as until it is upgraded */
  constructor(
    readonly spec: ProcessSpec,
    private readonly logs: string,
    private readonly onCrash: (spec: ProcessSpec, how: string) => void,
    private readonly before: Pick<ProcessSpec, 'args' | 'cwd'> = spec,
  ) {}

  /** The next start is one of this release. */
  upgrade(): void {
    this.#isUpgraded = true;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Nothing happens to one that runs. */
  start(): void {
    if (this.#child) return;
    const { name, file, env, uid, gid, tied } = this.spec;
    const { args, cwd } = this.#isUpgraded ? this.spec : this.before;
    this.#isWanted = true;
    this.#isExpectedToEnd = false;
    this.#startedAtMs = performance.now();
    this.#stoppedUntilMs = 0;
    const log = openSync(join(this.logs, `${name}.log`), 'a');
    const stdio = ['ignore' as const, log, log, ...(tied ? ['ipc' as const] : [])];
    const child = spawn(file, args, { cwd, env, uid, gid, stdio, detached: true });
    closeSync(log);
    this.#child = child;
    child.once('exit', (code, signal) => this.#ended(child, signal ?? code ?? 'unknown'));
  }

  /**
   * Also to sessions of PostgreSQL, which are processes. Nothing happens to a process
   * that is down.
   */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') this.#stoppedUntilMs = Infinity;
    if (signal === 'SIGCONT') this.#stoppedUntilMs = performance.now();
    const pids =
      this.spec.kind === 'postgres' ? processTree(this.pid).map(({ pid }) => pid) : [this.pid];
    for (const pid of pids) if (pid !== undefined) sendSignal(pid, signal);
  }

  /**
   * Ends it and leaves it down until `start`.
   * @param limitMs after which it is killed
   */
  end(signal: NodeJS.Signals, limitMs = 60_000): Promise<Ending> {
    this.#isWanted = false;
    this.#isExpectedToEnd = true;
    const child = this.#child;
    // A second signal would end it at once, unlike any orderly end.
    if (child && child === this.#ending?.child && signal !== 'SIGKILL') return this.#ending.end;
    const end = this.#end(child, signal, limitMs);
    if (child && signal !== 'SIGKILL') this.#ending = { child, end };
    return end;
  }

  async #end(
    child: ChildProcess | undefined,
    signal: NodeJS.Signals,
    limitMs: number,
  ): Promise<Ending> {
    const startMs = performance.now();
    const ageMs = startMs - this.#startedAtMs;
    if (!child) return { ms: 0, by: 'down', ageMs, isLate: false };
    const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
    // A process that is stopped would never see it.
    if (signal === 'SIGKILL') this.signal('SIGKILL');
    else child.kill(signal);
    let isLate = false;
    const killer = setTimeout(() => {
      isLate = this.#stoppedUntilMs < startMs;
      this.signal('SIGKILL');
    }, limitMs);
    const [code, by] = await exited;
    clearTimeout(killer);
    return {
      ms: performance.now() - startMs,
      by: by ?? code ?? 'unknown',
      ageMs,
      isLate,
    };
  }

  #ended(child: ChildProcess, by: number | string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    appendFileSync(
      join(this.logs, `${this.spec.name}.log`),
      `${new Date().toISOString()} ended: ${by}\n`,
    );
    // A start fails at once while its database or Redis is away (exit code 1): it is
    // only started again.
    const isFailedStart = by === 1 && performance.now() - this.#startedAtMs < START_MS;
    if (!this.#isExpectedToEnd && !isFailedStart)
      this.onCrash(this.spec, `${this.spec.name} ended by itself: ${by}`);
    if (this.#isWanted)
      setTimeout(() => this.#isWanted && !this.#child && this.start(), RESTART_MS);
  }
}

/** It may have ended meanwhile. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
