import { type HomeEvents, type WorkerHome } from '../worker-home.js';
import { type WorkerExit } from '../worker-view.js';
import { type RestartBackoff } from './restart-backoff.js';
import { type WorkerLog } from './worker-log.js';
import { WorkerProcess } from './worker-process.js';

export interface SupervisorOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Host part of the worker's address; the port is told by each process. */
  readonly host: string;
  readonly startTimeoutMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  readonly backoff: RestartBackoff;
  readonly log: WorkerLog;
  /** Monotonic milliseconds. */
  nowMs(): number;
  onRestart(): void;
}

/** A process that was ready for this long is sound: the next crash starts again with the shortest pause. */
const SOUND_AFTER_MS = 30_000;

/**
 * Keeps one local worker running, for ever: spawns it, waits for `ready`, restarts it after a pause when it exits, kills
 * it when it does not get ready in time or hangs. Never more than one process at a time.
 */
export class WorkerSupervisor implements WorkerHome {
  #events: HomeEvents | undefined;
  #process: WorkerProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #readyAtMs: number | undefined;
  #starts = 0;
  #lastExit: WorkerExit | undefined;
  #stopped: Promise<void> | undefined;
  #onStopped: (() => void) | undefined;

  constructor(private readonly options: SupervisorOptions) {}

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  get lastExit(): WorkerExit | undefined {
    return this.#lastExit;
  }

  start(events: HomeEvents): void {
    this.#events = events;
    this.#spawn();
  }

  onHung(reason: string): void {
    this.#kill(reason);
  }

  stop(): Promise<void> {
    this.#stopped ??= new Promise(resolve => {
      this.#onStopped = resolve;
      clearTimeout(this.#timer);
      if (this.#process) this.#terminate(this.#process);
      else resolve();
    });
    return this.#stopped;
  }

  #spawn(): void {
    const { command, args, env, log } = this.options;
    this.#starts += 1;
    this.#readyAtMs = undefined;
    this.#events?.onStarting();
    this.#process = new WorkerProcess({
      command,
      args,
      env,
      onListening: port => this.#events?.onReachable(`${this.options.host}:${port}`),
      onReady: () => this.#onReady(),
      onExit: exit => this.#onExit(exit),
      onLine: (stream, line) => log.line(stream, line),
    });
    log.say('log', 'worker started', { workerPid: this.#process.pid, start: this.#starts });
    this.#timer = setTimeout(
      () => this.#kill(`not ready within ${this.options.startTimeoutMs} ms`),
      this.options.startTimeoutMs,
    );
    if (this.#starts > 1) this.options.onRestart();
  }

  #onReady(): void {
    if (this.#onStopped) return;
    clearTimeout(this.#timer);
    this.#readyAtMs = this.options.nowMs();
    this.#events?.onReady();
  }

  #onExit(exit: WorkerExit): void {
    clearTimeout(this.#timer);
    this.#process = undefined;
    this.#lastExit = exit;
    this.#events?.onGone();
    if (this.#onStopped) this.#onStopped();
    else this.#restartLater(exit);
  }

  #restartLater(exit: WorkerExit): void {
    const { backoff, log } = this.options;
    if (this.#readyAtMs !== undefined && this.options.nowMs() - this.#readyAtMs >= SOUND_AFTER_MS) backoff.reset();
    const restartInMs = Math.round(backoff.nextMs());
    const { code, signal, reason } = exit;
    log.say('warn', 'worker exited', { code, signal, reason, restartInMs });
    this.#timer = setTimeout(() => this.#spawn(), restartInMs);
  }

  #terminate(process: WorkerProcess): void {
    process.terminate();
    const { stopGraceMs } = this.options;
    this.#timer = setTimeout(() => this.#kill(`still running ${stopGraceMs} ms after SIGTERM`), stopGraceMs);
  }

  #kill(reason: string): void {
    if (!this.#process) return;
    this.options.log.say('warn', 'killing worker', { reason });
    this.#process.kill(reason);
  }
}
