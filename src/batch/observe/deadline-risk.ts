/** How far a batch is, and since when this processor works on it. */
export interface Pace {
  readonly startedMs: number;
  readonly doneAtStart: number;
  readonly done: number;
  readonly total: number;
  readonly expiresAtMs: number;
}

/** True when the lines left take longer than the time left, at the rate so far. Without a rate nobody knows: false. */
export function missesDeadline({ startedMs, doneAtStart, done, total, expiresAtMs }: Pace, nowMs: number): boolean {
  const here = done - doneAtStart;
  if (here <= 0 || nowMs <= startedMs) return false;
  return ((nowMs - startedMs) / here) * (total - done) > expiresAtMs - nowMs;
}
