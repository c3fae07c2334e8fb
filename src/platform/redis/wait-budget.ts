/** Bounds the wait for several answers together: what one of them took is missing for the next. */
export class WaitBudget {
  /** @param overdue what a wait beyond the budget is answered with */
  constructor(
    private leftMs: number,
    private readonly overdue: () => Error,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @throws what `overdue` makes when the budget ends before the answer comes; else what `answer` throws. */
  async spend<T>(answer: Promise<T>): Promise<T> {
    const sinceMs = this.nowMs();
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.overdue()), Math.max(0, this.leftMs));
    });
    try {
      return await Promise.race([answer, end]);
    } finally {
      clearTimeout(timer);
      this.leftMs -= this.nowMs() - sinceMs;
    }
  }
}
