/** The right to use one slot. `release` is idempotent. */
export class Lease {
  constructor(private onRelease: (() => void) | undefined) {}

  get released(): boolean {
    return this.onRelease === undefined;
  }

  release(): void {
    const { onRelease } = this;
    this.onRelease = undefined;
    onRelease?.();
  }
}
