/** How far a lane has come in virtual time (D-25) at an instant. */
interface Progress {
  readonly atMs: number;
  readonly tag: number;
}

/**
 * When a lane reaches which virtual time: a request starts when the lane reaches its
 * start tag. Filled by a run, then read for any number of requests.
 */
export class StartCurve {
  readonly #points: Progress[];
  #idleAtMs = Infinity;

  constructor(
    private readonly startMs: number,
    startTag: number,
  ) {
    this.#points = [{ atMs: startMs, tag: startTag }];
  }

  /** The lane was empty with a slot free: what comes later starts at once. */
  get isIdle(): boolean {
    return this.#idleAtMs < Infinity;
  }

  /** It was so from the beginning. */
  get wasIdle(): boolean {
    return this.#idleAtMs === this.startMs;
  }

  /** The lane came to `tag`. Ignored once it was idle. */
  reached(atMs: number, tag: number): void {
    if (!this.isIdle && tag >= this.#last.tag) this.#points.push({ atMs, tag });
  }

  /** The lane is empty and a slot is free. */
  idle(atMs: number): void {
    this.#idleAtMs = Math.min(this.#idleAtMs, atMs);
  }

  /**
   * @param aheadMs virtual milliseconds between where the lane is at `nowMs` and the
   *   start tag of the request
   */
  startsAtMs(aheadMs: number, nowMs: number): number {
    const points = this.#points;
    const first = this.#first(({ atMs }) => atMs > nowMs);
    const wanted = (points[first - 1]?.tag ?? this.#last.tag) + aheadMs;
    const at = Math.max(
      first,
      this.#first(({ tag }) => tag >= wanted),
    );
    return Math.max(
      nowMs,
      points[at]?.atMs ?? (this.isIdle ? this.#idleAtMs : this.#beyond(wanted)),
    );
  }

  /** Past the end of the run, at its mean pace. */
  #beyond(tag: number): number {
    const [first, last] = [this.#points[0], this.#last];
    const pace =
      first && last.tag > first.tag
        ? (last.atMs - this.startMs) / (last.tag - first.tag)
        : 1;
    return last.atMs + (tag - last.tag) * pace;
  }

  get #last(): Progress {
    return this.#points.at(-1) ?? { atMs: this.startMs, tag: 0 };
  }

  /** Index of the first point for which it holds, and for all after it. */
  #first(holds: (point: Progress) => boolean): number {
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const point = this.#points[middle];
      if (point !== undefined && holds(point)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
