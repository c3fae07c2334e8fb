export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** 0..1, for the jitter. */
  readonly random?: () => number;
}

/** Doubling pauses from `minMs` to `maxMs`, each shortened by up to half so that many workers do not start together. */
export class RestartBackoff {
  #attempt = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** Milliseconds to wait before the next start: between half and all of min(maxMs, minMs x 2^attempt). */
  nextMs(): number {
    const { minMs, maxMs, random = Math.random } = this.options;
    const fullMs = Math.min(maxMs, minMs * 2 ** this.#attempt);
    // Beyond the cap a larger exponent only leads to Infinity.
    if (fullMs < maxMs) this.#attempt += 1;
    return fullMs * (1 - random() / 2);
  }

  reset(): void {
    this.#attempt = 0;
  }
}
