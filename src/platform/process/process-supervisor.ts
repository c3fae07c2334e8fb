import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  exitText,
  type ProcessExit,
  SupervisedProcess,
} from '@switchyard/engine-api/process/child-process.js';
import { type RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import { type ProcessLog } from '../logging/process-log.js';

export interface SupervisorOptions {
  /** In log lines: worker, batch processor. */
  readonly what: string;
  readonly command: string;
  /** Arguments of the process; a function is called anew for each process. */
  readonly args: readonly string[] | (() => Promise<readonly string[]>);
  readonly env: NodeJS.ProcessEnv;
  /**
   * A program that is not ours (`SupervisedProcess`): it reports nothing, so its
   * supervisor calls `ready()`.
   */
  readonly foreign?: boolean;
  /** What keeps it from being ready, for the message about one that was too slow. */
  readonly unready?: () => string | undefined;
  /** A start without any progress for so long ends; doubles with each such start in a row. */
  readonly startTimeoutMs: number;
  /** A start takes so long at most, whatever progress it makes. */
  readonly startLimitMs: number;
  /** Resolves when a process may be started, with what ends its turn. Absent: at once. */
  readonly turn?: () => Promise<() => void>;
  /** Between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  readonly backoff: RestartBackoff;
  readonly log: ProcessLog;
  /** Monotonic milliseconds. */
  nowMs(): number;
  onRestart(): void;
  /** A process ended. */
  onExit?(pid: number | undefined): void;
  /** A process ended with the reason why it cannot start. */
  onStartFailed?(): void;
}

interface SupervisorEvents {
  /** A process is being started. */
  onStarting(): void;
  /** The process has been started. */
  onStarted?(): void;
  onMessage(message: Fields): void;
  /** It wrote a line of its log. */
  onLine?(): void;
  /** It said `{ type: 'ready' }`. */
  onReady(): void;
  /**
   * The process is gone; another one may follow.
   * @returns true: an input under suspicion ended it (D-51), so the pause before its start does
   *   not grow
   */
  onGone(): boolean | void;
}

/**
 * A process that was ready for this long is sound: the next crash starts again with
 * the shortest pause.
 */
const SOUND_AFTER_MS = 30_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Keeps one local process running, for ever: spawns it, waits for `ready`, restarts it
 * after a pause when it exits, kills it when it hangs. A start is judged by its progress
 * (D-49): output, messages and answered probes are, silence is not. One
 * that says why it cannot start is tried again after the longest pause: an operator may
 * repair what it names. Never more than one process at a time.
 */
export class ProcessSupervisor {
  #events: SupervisorEvents | undefined;
  #process: SupervisedProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Timer of the limit of the start that is in progress. */
  #startLimit: NodeJS.Timeout | undefined;
  /** Starts in a row that ended for their silence. */
  #silentStarts = 0;
  #endTurn: (() => void) | undefined;
  #readyAtMs: number | undefined;
  #starts = 0;
  lastExit: ProcessExit | undefined;
  #stopped: Promise<void> | undefined;
  #onStopped: (() => void) | undefined;
  /** True while the function of the arguments runs. */
  #isFinding = false;
  /** The end of the process that runs is wanted, and so is the next one. */
  #isRestarting = false;

  constructor(private readonly options: SupervisorOptions) {}

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** Whether a process runs that has not been ready yet. */
  get isStarting(): boolean {
    return this.#process !== undefined && this.#readyAtMs === undefined;
  }

  /**
   * How the last process ended, until another one is ready; then what is wrong
   * with that one.
   */
  get problem(): string | undefined {
    if (this.#process !== undefined && this.#readyAtMs !== undefined) return this.#process.problem;
    return this.lastExit && exitText(this.lastExit);
  }

  /** Why the last process could not start; undefined once another one is ready. */
  get startFailure(): string | undefined {
    return this.#readyAtMs === undefined && this.lastExit?.startFailed
      ? this.lastExit.reason
      : undefined;
  }

  start(events: SupervisorEvents): void {
    this.#events = events;
    this.#spawn();
  }

  send(message: object): void {
    this.#process?.send(message);
  }

  /** Ends a process that hangs; another one follows. */
  kill(reason: string): void {
    if (!this.#process) return;
    this.options.log.say('warn', `killing ${this.options.what}`, { reason });
    this.#process.kill(reason);
  }

  /**
   * Ends the process with SIGTERM and starts another one at once; a pause between
   * two processes ends.
   */
  restart(): void {
    if (this.#onStopped || this.#isFinding || this.#isRestarting || !this.#events) return;
    clearTimeout(this.#timer);
    this.#isRestarting = this.#process !== undefined;
    if (this.#process) this.#terminate(this.#process);
    else this.#spawn();
  }

  /**
   * Resolves when no process is left. Idempotent: the same promise; a grace may still be set.
   * @param graceMs between SIGTERM and SIGKILL; Infinity: it ends by itself
   */
  stop(graceMs = this.options.stopGraceMs): Promise<void> {
    if (this.#stopped) this.#killAfter(graceMs);
    this.#stopped ??= new Promise(resolve => {
      this.#onStopped = resolve;
      clearTimeout(this.#timer);
      if (this.#process) this.#terminate(this.#process, graceMs);
      else resolve();
    });
    return this.#stopped;
  }

  #spawn() {
    const { args, turn } = this.options;
    this.#readyAtMs = undefined;
    this.#events?.onStarting();
    if (!turn && typeof args !== 'function') return this.#run(args);
    this.#isFinding = true;
    this.#found()
      .finally(() => (this.#isFinding = false))
      .then(
        found => (this.#onStopped ? this.#endTurn?.() : this.#run(found)),
        (error: Error) =>
          this.#onExit({ code: null, signal: null, reason: error.message, lines: [] }),
      );
  }

  /** Its arguments, once it may start. */
  async #found(): Promise<readonly string[]> {
    const { args, turn } = this.options;
    this.#endTurn = await turn?.();
    return typeof args === 'function' ? args() : args;
  }

  #run(args: readonly string[]) {
    const { what, command, env, log, foreign } = this.options;
    this.#starts += 1;
    this.#process = new SupervisedProcess({
      command,
      args,
      env,
      foreign,
      onMessage: message => this.#onMessage(message),
      onExit: exit => this.#onExit(exit),
      onLine: (stream, line) => {
        this.progressed();
        log.line(stream, line);
        this.#events?.onLine?.();
      },
    });
    log.say('info', `${what} started`, {
      childPid: this.#process.pid,
      start: this.#starts,
    });
    const { startLimitMs } = this.options;
    this.#startLimit = setTimeout(
      () => this.#onSlow(`not ready within ${startLimitMs} ms (workers.start_limit_ms)`),
      startLimitMs,
    );
    this.progressed();
    if (this.#starts > 1) this.options.onRestart();
    this.#events?.onStarted?.();
  }

  /** The process that starts is alive, and busy with it. */
  progressed(): void {
    if (!this.isStarting || this.#onStopped || this.#isRestarting) return;
    const ms = Math.min(this.options.startTimeoutMs * 2 ** this.#silentStarts, MAX_TIMER_MS);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#silentStarts += 1;
      this.#onSlow(`not ready, and no progress for ${ms} ms (workers.start_timeout_ms)`);
    }, ms);
  }

  #onSlow(reason: string) {
    const why = this.options.unready?.();
    this.kill(`${reason}${why === undefined ? '' : `: ${why}`}`);
  }

  #started() {
    clearTimeout(this.#timer);
    clearTimeout(this.#startLimit);
    this.#endTurn?.();
  }

  #onMessage(message: Fields) {
    this.#events?.onMessage(message);
    if (message.type === 'ready') this.ready();
  }

  /** The process takes work. Idempotent. */
  ready(): void {
    if (this.#onStopped || !this.isStarting) return;
    this.#started();
    this.#silentStarts = 0;
    this.#readyAtMs = this.options.nowMs();
    this.#events?.onReady();
  }

  #onExit(exit: ProcessExit) {
    this.#started();
    const isRestart = this.#isRestarting;
    this.#isRestarting = false;
    const { pid } = this;
    this.#process = undefined;
    this.options.onExit?.(pid);
    this.lastExit = isRestart ? undefined : exit;
    const isExcused = this.#events?.onGone() === true;
    if (exit.startFailed) this.options.onStartFailed?.();
    if (this.#onStopped) this.#onStopped();
    else if (isRestart) this.#spawn();
    else this.#restartLater(exit, isExcused);
  }

  #restartLater(exit: ProcessExit, isExcused = false) {
    const { what, backoff, log } = this.options;
    if (this.#readyAtMs !== undefined && this.options.nowMs() - this.#readyAtMs >= SOUND_AFTER_MS)
      backoff.reset();
    const restartInMs = exit.startFailed
      ? backoff.longestMs
      : Math.round(backoff.nextMs(isExcused));
    const { code, signal, reason } = exit;
    log.say('warn', `${what} exited`, { code, signal, reason, restartInMs });
    this.#timer = setTimeout(() => this.#spawn(), restartInMs);
  }

  #terminate(process: SupervisedProcess, graceMs = this.options.stopGraceMs) {
    process.terminate();
    clearTimeout(this.#startLimit);
    clearTimeout(this.#timer);
    this.#killAfter(graceMs);
  }

  #killAfter(graceMs: number) {
    if (!this.#process || graceMs === Infinity) return;
    clearTimeout(this.#timer);
    const reason = `still running ${graceMs} ms after SIGTERM`;
    this.#timer = setTimeout(() => this.kill(reason), graceMs);
  }
}
