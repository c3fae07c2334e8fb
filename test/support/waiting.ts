export const pause = (ms: number): Promise<void> => new Promise(next => setTimeout(next, ms));

/**
 * Asks again at once until `condition` holds: the instant at which it does is
 * what benches measure.
 * @returns false when `limitMs` passed first.
 */
export async function until(condition: () => Promise<boolean>, limitMs = 20_000): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (await condition()) return true;
  }
  return false;
}
