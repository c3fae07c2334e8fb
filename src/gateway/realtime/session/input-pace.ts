/**
 * How far a client is ahead of real time, in milliseconds of audio. Time it did not use to send is not saved up, except while
 * it was away.
 */
export class InputPace {
  #aheadMs = 0;
  #lastMs: number | undefined;

  constructor(private readonly maxAheadMs: number) {}

  /** @returns milliseconds to wait before reading more: 0 within the bound. */
  received(audioMs: number, nowMs: number): number {
    const passedMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#aheadMs = Math.max(0, this.#aheadMs - passedMs) + audioMs;
    return Math.max(0, this.#aheadMs - this.maxAheadMs);
  }

  /** Twice the bound: only audio that was sent after reading had stopped can get there. */
  get excessive(): boolean {
    return this.#aheadMs > 2 * this.maxAheadMs;
  }
}
