/** Mistakes a client may make in ten seconds: each is answered, so a flood of them is a flood of answers. */
const MOST = 100;
const WITHIN_MS = 10_000;

/** Bad input is recoverable; nothing but bad input is abuse. */
export class MistakeLimit {
  readonly #timesMs: number[] = [];

  /** @returns true when this one is one too many. */
  exceeded(nowMs: number): boolean {
    this.#timesMs.push(nowMs);
    if (this.#timesMs.length <= MOST) return false;
    return nowMs - (this.#timesMs.shift() ?? nowMs) < WITHIN_MS;
  }
}
