/** Pauses between attempts. They double from `firstMs` to `longestMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Milliseconds to wait after `failures` failures in a row, from 1. Up to half of it is
 * subtracted at random, so that callers that failed together do not retry together. The
 * one back-off of the product.
 * @param random 0 to 1; 0: no jitter
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: Backoff,
  random: () => number = Math.random,
): number {
  const fullMs = Math.min(longestMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return fullMs * (1 - random() / 2);
}
