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
