/**
 * Pieces of work that are done one after the other while whoever adds them goes on. What
 * fails is told to whoever asks next, and what stands behind it is not done.
 */
export class WorkLine {
  #last = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #waiting = 0;

  /** @param most that may wait until `room` holds its caller back */
  constructor(private readonly most = Infinity) {}

  /** @param size of the work, in the unit of `most` */
  add(work: () => Promise<void>, size = 1): void {
    this.#waiting += size;
    this.#last = this.#last.then(async () => {
      try {
        if (!this.#failure) await work();
      } catch (error) {
        this.end(error);
      } finally {
        this.#waiting -= size;
      }
    });
  }

  /** Discards the work that waits. The first error counts. */
  end(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Resolves when there is room for more. @throws what work threw */
  async room(): Promise<void> {
    if (this.#waiting > this.most) await this.#last;
    this.#throwFailure();
  }

  /** Resolves when all is done. @throws what work threw */
  async done(): Promise<void> {
    await this.#last;
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
