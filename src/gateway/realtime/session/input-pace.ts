/**
 * For how long one side has been slowed, in milliseconds, less the time without pauses:
 * pauses now and then do not add up, consecutive ones do.
 */
function slowedTime() {
  let slowedMs = 0;
  let lastPauseMs = 0;
  /**
   * @param pauseMs from now on, in place of what is left of the last pause
   * @param passedMs since the last call
   * @returns the time in all, this pause included
   */
  return (pauseMs: number, passedMs: number): number => {
    const leftMs = Math.max(0, lastPauseMs - passedMs);
    const freeMs = Math.max(0, passedMs - lastPauseMs);
    slowedMs = Math.max(0, slowedMs - freeMs) + Math.max(0, pauseMs - leftMs);
    lastPauseMs = Math.max(pauseMs, leftMs);
    return slowedMs;
  };
}

/** What to do about audio that came in. */
interface Pace {
  /** Milliseconds to stop reading; 0 within the bounds. */
  readonly pauseMs: number;
  /** Slowing did not help: the client sends too fast, or the recogniser is too slow. */
  readonly lost?: 'client' | 'recogniser';
}

/** The recogniser may catch up at any time, so it is checked again after this. */
const LONGEST_WAIT_MS = 1000;

/**
 * A lead shrinks by this rate: real time after a burst, or a fast clock, is forgiven
 * in the end.
 */
const REAL_TIME = 1.25;

/**
 * How far a client is ahead of real time, and the recogniser behind the client, in
 * milliseconds of audio. Time without audio is not credited, except while it was away.
 * Slowed, then warned, then closed: at twice the bound, or when reading had to stop for
 * the length of the bound in all.
 */
export function inputPace(boundMs: number) {
  const slowedClient = slowedTime();
  const slowedRecogniser = slowedTime();
  let aheadMs = 0;
  let lastMs: number | undefined;
  /** @param backlogMs audio that the recogniser has not taken */
  return (audioMs: number, backlogMs: number, nowMs: number): Pace => {
    const passedMs = lastMs === undefined ? 0 : nowMs - lastMs;
    lastMs = nowMs;
    aheadMs = Math.max(0, aheadMs - REAL_TIME * passedMs) + audioMs;
    const fastMs = Math.max(0, aheadMs - boundMs);
    const slowMs = Math.min(LONGEST_WAIT_MS, Math.max(0, backlogMs - boundMs));
    const pauseMs = Math.max(fastMs, slowMs);
    const hasteMs = slowedClient(fastMs, passedMs);
    const waitMs = slowedRecogniser(slowMs, passedMs);
    // Only audio that was sent after reading had stopped can get to twice the bound.
    if (aheadMs > 2 * boundMs || hasteMs > boundMs) return { pauseMs, lost: 'client' };
    return waitMs > boundMs ? { pauseMs, lost: 'recogniser' } : { pauseMs };
  };
}
