/**
 * Minimum range over which hints are spread; a longer hint is spread over its own length.
 */
const MIN_SPREAD_MS = 4_000;

/**
 * When a rejected caller should retry: `hintMs` at the earliest, spread so that callers
 * rejected together do not retry together.
 * @param random 0 to 1
 */
export const spreadHint = (hintMs: number, random: () => number): number =>
  hintMs + Math.floor(random() * Math.max(hintMs, MIN_SPREAD_MS));
