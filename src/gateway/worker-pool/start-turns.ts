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
    const { promise, resolve: end } = Promise.withResolvers<void>();
    await new Promise<void>(begin => {
      this.#waiting.push({ isRealtime, begin });
      // Those that ask at the same time are put in order first.
      setImmediate(() => this.#next());
    });
    setTimeout(end, this.longestMs).unref();
    void promise.then(() => {
      this.#running -= 1;
      this.#next();
    });
    return end;
  }

  #next(): void {
    while (this.#running < this.most && this.#waiting.length > 0) {
      const first = Math.max(
        0,
        this.#waiting.findIndex(({ isRealtime }) => isRealtime),
      );
      this.#running += 1;
      this.#waiting.splice(first, 1)[0]!.begin();
    }
  }
}
