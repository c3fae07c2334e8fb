import { ActiveTimeout } from './active-timeout.js';

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
