/**
 * Which local workers load their models at the same time: on a machine that does
 * everything at once, nothing is ready in time. REALTIME models go first, then in order.
 */
export class StartTurns {
  readonly #waiting: { readonly isRealtime: boolean; readonly begin: () => void }[] = [];
  #running = 0;

  /**
   * @param most loads at once
   * @param longestMs a load that takes longer no longer holds up others
   */
  constructor(
    private readonly most: number,
    private readonly longestMs: number,
  ) {}

  /** Resolves when the load may begin, with what ends its turn. */
  async take(isRealtime: boolean): Promise<() => void> {
    await new Promise<void>(begin => {
      this.#waiting.push({ isRealtime, begin });
      // Those that ask at the same time are put in order first.
      setImmediate(() => this.#next());
    });
    const timer = setTimeout(() => end(), this.longestMs).unref();
    let isOver = false;
    const end = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      this.#next();
    };
    return end;
  }

  #next(): void {
    while (this.#running < this.most && this.#waiting.length > 0) {
      const first = Math.max(
        0,
        this.#waiting.findIndex(({ isRealtime }) => isRealtime),
      );
      const [next] = this.#waiting.splice(first, 1);
      this.#running += 1;
      next!.begin();
    }
  }
}
