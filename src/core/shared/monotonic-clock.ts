/**
 * Milliseconds on a clock that never goes backwards. Comparable only with values of
 * the same clock.
 */
export interface MonotonicClock {
  nowMs(): number;
}
