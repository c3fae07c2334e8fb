/** The right to use one slot. `release` is idempotent. */
export class Lease {
  #onRelease: (() => void) | undefined;

  constructor(onRelease: () => void) {
    this.#onRelease = onRelease;
  }

  get released(): boolean {
    return this.#onRelease === undefined;
  }

  release(): void {
    const onRelease = this.#onRelease;
    this.#onRelease = undefined;
    onRelease?.();
  }
}
