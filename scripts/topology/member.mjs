import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';

const RESTART_MIN_MS = 200;
const RESTART_MAX_MS = 5000;
/** A member that lived as long starts its pauses anew. */
const STABLE_MS = 10_000;

/**
 * One process of the topology, started again whenever it ends by itself, as Kubernetes or
 * `restart: always` would. Its output goes to one file; its process group is its own, so
 * that a terminal's Ctrl-C reaches no process but us.
 */
export class Member {
  #child;
  #stopping = false;
  #restart;
  #pauseMs = RESTART_MIN_MS;
  #startedAtMs = 0;
  restarts = 0;

  /**
   * @param spec {name, kind, file, args, env, cwd, uid, gid, log, port, stopSignal,
   *   graceMs, tied}; `tied`: it gets an
   * IPC channel, whose end shows that this process is gone, also by SIGKILL
   * @param onChange called when its pid changes
   */
  constructor(spec, onChange) {
    this.spec = spec;
    this.onChange = onChange;
  }

  /** Undefined while it is down. */
  get pid() {
    return this.#child?.pid;
  }

  start() {
    const { file, args, env, cwd, uid, gid, log, tied } = this.spec;
    const output = openSync(log, 'a');
    this.#startedAtMs = Date.now();
    const stdio = ['ignore', output, output, ...(tied ? ['ipc'] : [])];
    const child = spawn(file, args, { cwd, env, uid, gid, stdio, detached: true });
    closeSync(output);
    this.#child = child;
    child.once('error', error => appendFileSync(log, `cannot be started: ${error.message}\n`));
    child.once('close', (code, signal) => this.#ended(code, signal));
    this.onChange();
  }

  /** Resolves when it is gone; killed when it takes longer than its grace. Idempotent. */
  async stop() {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return true;
    const gone = new Promise(resolve => child.once('close', resolve));
    child.kill(this.spec.stopSignal ?? 'SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), this.spec.graceMs);
    await gone;
    clearTimeout(killer);
    return child.signalCode !== 'SIGKILL';
  }

  /** At once, for when this process itself must end. */
  kill() {
    this.#stopping = true;
    clearTimeout(this.#restart);
    this.#child?.kill('SIGKILL');
  }

  #ended(code, signal) {
    this.#child = undefined;
    if (this.#stopping) return;
    appendFileSync(
      this.spec.log,
      `${new Date().toISOString()} ended with ${signal ?? code}; starts again\n`,
    );
    if (Date.now() - this.#startedAtMs > STABLE_MS) this.#pauseMs = RESTART_MIN_MS;
    this.#restart = setTimeout(() => {
      this.restarts += 1;
      this.start();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(RESTART_MAX_MS, this.#pauseMs * 2);
    this.onChange();
  }
}
