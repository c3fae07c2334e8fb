/**
 * An answer that somebody hears while it is made: it plays from its first audio on. A player
 * that has nothing left waits for more. Times in monotonic milliseconds.
 */
export class Playback {
  #playedAtMs: number | undefined;
  #lateMs = 0;

  /** When what is made so far has been played; undefined: nothing is. */
  get playedAtMs(): number | undefined {
    return this.#playedAtMs;
  }

  /** For how long its listener waited in the middle of it, in all. */
  get lateMs(): number {
    return this.#lateMs;
  }

  /** The next `audioMs` of it are made. */
  made(audioMs: number, nowMs: number): void {
    const fromMs = Math.max(nowMs, this.#playedAtMs ?? nowMs);
    this.#lateMs += fromMs - (this.#playedAtMs ?? fromMs);
    this.#playedAtMs = fromMs + audioMs;
  }
}
