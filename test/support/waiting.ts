/**
 * Longest wait of a test for a state: far above what a busy machine takes, and below the
 * limit of a test, so that a failure names what was waited for.
 */
export const WAIT_LIMIT_MS = 240_000;

export const pause = (ms: number): Promise<void> => new Promise(next => setTimeout(next, ms));

/**
 * Asks until `condition` holds. A bench that measures the instant asks again at once: 0.
 * @returns false when `limitMs` passed first.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { limitMs = WAIT_LIMIT_MS, everyMs = 20 } = {},
): Promise<boolean> {
  for (const endMs = performance.now() + limitMs; performance.now() < endMs;) {
    if (await condition()) return true;
    // A condition that asks nobody would hold up what it waits for.
    await (everyMs > 0 ? pause(everyMs) : new Promise(next => setImmediate(next)));
  }
  return false;
}
