/** Parts of a budget; each has a timer of its own. */
const SLICES = 20;

/**
 * Bounds the wait for several answers together: what one of them took is missing for the next. Only time in which this
 * process could read an answer counts: a timer that fires late, because something held the event loop, counts as what
 * it was set for.
 */
export class WaitBudget {
  readonly #sliceMs: number;

  /** @param overdue called when the budget is used up; returns the error of the wait */
  constructor(
    private leftMs: number,
    private readonly overdue: () => Error,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#sliceMs = leftMs / SLICES;
  }

  /** @throws what `overdue` returns when the budget ends before the answer comes; else what `answer` throws. */
  async spend<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    let sinceMs = this.nowMs();
    const charge = (): void => void (this.leftMs -= Math.min(this.nowMs() - sinceMs, this.#sliceMs));
    const end = new Promise<never>((_resolve, reject) => {
      const next = (): void => {
        sinceMs = this.nowMs();
        // What has arrived meanwhile is read before the end.
        if (this.leftMs <= 0) return void setImmediate(() => reject(this.overdue()));
        timer = setTimeout(
          () => {
            charge();
            next();
          },
          Math.min(this.#sliceMs, this.leftMs),
        );
      };
      next();
    });
    try {
      return await Promise.race([answer, end]);
    } finally {
      clearTimeout(timer);
      charge();
    }
  }
}
