/**
 * Longest wait of a test for a state: far above what a busy machine takes, and below the
 * limit of a test, so that a failure names what was waited for.
 */
export const WAIT_LIMIT_MS = 240_000;

export const pause = (ms: number): Promise<void> => new Promise(next => setTimeout(next, ms));

/**
 * Asks again at once until `condition` holds: the instant at which it does is
 * what benches measure.
 * @returns false when `limitMs` passed first.
 */
export async function until(
  condition: () => Promise<boolean>,
  limitMs = WAIT_LIMIT_MS,
): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (await condition()) return true;
    // A condition that asks nobody would hold up what it waits for.
    await new Promise(next => setImmediate(next));
  }
  return false;
}
