import { type DeviceProgress, leftMs, WAITING } from '../../core/request/device-progress.js';

/** Parts of a limit; each has a timer of its own. */
const SLICES = 20;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A timeout that counts only time in which this process could read an answer: a
 * timer that fires late, because the event loop was blocked or the process stopped,
 * counts as what it was set for. Input that arrived meanwhile is read before the
 * timeout is reported.
 */
export class ActiveTimeout {
  readonly #sliceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Immediate | undefined;
  #leftMs = 0;
  #sinceMs = 0;

  constructor(
    private readonly limitMs: number,
    private readonly onEnd: () => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#sliceMs = Math.min(limitMs / SLICES, MAX_TIMER_MS);
  }

  /** Starts it, or starts it anew. */
  restart(): void {
    this.#leftMs = this.limitMs;
    this.#sinceMs = this.nowMs();
    clearImmediate(this.#end);
    if (!this.#timer) this.#wait();
  }

  /** Harmless when it never started. @returns milliseconds that were left */
  stop(): number {
    if (this.#timer) this.#charge();
    clearTimeout(this.#timer);
    clearImmediate(this.#end);
    return this.#leftMs;
  }

  #wait() {
    this.#sinceMs = this.nowMs();
    this.#timer = setTimeout(() => this.#waited(), Math.min(this.#sliceMs, this.#leftMs));
  }

  #waited() {
    this.#charge();
    if (this.#leftMs > 0) return this.#wait();
    this.#timer = undefined;
    this.#end = setImmediate(() => this.onEnd());
  }

  #charge() {
    this.#leftMs -= Math.min(this.nowMs() - this.#sinceMs, this.#sliceMs);
  }
}

/** Shortest pause between two questions of a `DeviceTimeout`. */
const ASK_PAUSE_MS = 10;

/**
 * The inference limit of one call (D-07, D-49): when it could be over, asks how long the
 * device has computed the call, and waits for what is left.
 */
export class DeviceTimeout {
  #timer: ActiveTimeout | undefined;
  #stopped = false;

  /**
   * @param options `ask` rejects while there is no answer, which is no reason to end the call
   */
  constructor(
    private readonly options: {
      readonly limitMs: number;
      readonly ask: () => Promise<DeviceProgress | undefined>;
      readonly onOverdue: () => void;
    },
  ) {
    this.#wait(options.limitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  #wait(ms: number): void {
    this.#timer = new ActiveTimeout(ms, () => void this.#look());
    this.#timer.restart();
  }

  async #look(): Promise<void> {
    const { limitMs, ask, onOverdue } = this.options;
    const progress = await ask().catch(() => WAITING);
    if (this.#stopped) return;
    const ms = leftMs(limitMs, progress);
    if (ms > 0) this.#wait(Math.max(ms, ASK_PAUSE_MS));
    else onOverdue();
  }
}

/**
 * Bounds the wait for several answers together: what one of them took is missing
 * for the next.
 */
export class WaitBudget {
  /** @param overdue called when the budget is used up; returns the error of the wait */
  constructor(
    private leftMs: number,
    private readonly overdue: () => Error,
    private readonly nowMs?: () => number,
  ) {}

  /**
   * @throws what `overdue` returns when the budget ends before the answer comes; else
   *   what `answer` throws.
   */
  async spend<T>(answer: Promise<T>): Promise<T> {
    const { promise: end, reject } = Promise.withResolvers<never>();
    const timer = new ActiveTimeout(this.leftMs, () => reject(this.overdue()), this.nowMs);
    timer.restart();
    try {
      return await Promise.race([answer, end]);
    } finally {
      this.leftMs = timer.stop();
    }
  }
}
