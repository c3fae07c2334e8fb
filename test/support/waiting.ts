/**
 * Longest wait of a test for a state: far above what a busy machine takes, and below the
 * limit of a test, so that a failure names what was waited for.
 */
export const WAIT_LIMIT_MS = 240_000;

export const pause = (ms: number): Promise<void> => new Promise(next => setTimeout(next, ms));

export interface Wait {
  /** Of what is waited for; absent: the condition itself. */
  readonly what?: string;
  readonly limitMs?: number;
  /** A bench that measures the instant asks again at once: 0. */
  readonly everyMs?: number;
  /** For the error, such as the ends of logs. */
  readonly told?: () => unknown;
}

/** Asks until `condition` holds. @throws Error that says what was waited for */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what = condition.toString(), limitMs = WAIT_LIMIT_MS, everyMs = 20, told }: Wait = {},
): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() >= endMs) {
      const lines = [`waited ${limitMs} ms for: ${what}`, await told?.()].flat();
      throw new Error(lines.join('\n---\n'));
    }
    // A condition that asks nobody would hold up what it waits for.
    await (everyMs > 0 ? pause(everyMs) : new Promise(next => setImmediate(next)));
  }
}
