/** So many messages at once, and so many per second in the long run. Time is passed in. */
export class MessageAllowance {
  #left: number;
  #atMs: number;
  #refused = 0;

  constructor(
    private readonly options: { readonly burst: number; readonly perSecond: number },
    nowMs: number,
  ) {
    this.#left = options.burst;
    this.#atMs = nowMs;
  }

  /** Refused since the last one that was taken. */
  get refused(): number {
    return this.#refused;
  }

  take(nowMs: number): boolean {
    const { burst, perSecond } = this.options;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#atMs) / 1000) * perSecond);
    this.#atMs = nowMs;
    if (this.#left < 1) {
      this.#refused++;
      return false;
    }
    this.#left--;
    this.#refused = 0;
    return true;
  }
}
