/**
 * Divides the time of a device among the generations that run on it: each moment counts
 * equally for all of them.
 */
export class SharedTime {
  #running = 0;
  /** What one that ran from the beginning would have had. */
  #eachMs = 0;
  #atMs = 0;

  /** A generation starts. @returns the mark that `since` takes */
  begin(nowMs: number): number {
    this.#advance(nowMs);
    this.#running += 1;
    return this.#eachMs;
  }

  /** Milliseconds that are its own since `mark`. */
  since(mark: number, nowMs: number): number {
    this.#advance(nowMs);
    return this.#eachMs - mark;
  }

  end(nowMs: number): void {
    this.#advance(nowMs);
    this.#running -= 1;
  }

  #advance(nowMs: number): void {
    if (this.#running > 0) this.#eachMs += (nowMs - this.#atMs) / this.#running;
    this.#atMs = nowMs;
  }
}
