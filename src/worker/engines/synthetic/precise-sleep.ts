import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A Node timer fires up to about 1.1 ms late: it is set to fire before the instant, and turns of the loop fill the rest. */
const TIMER_SLACK_MS = 1.2;

/**
 * Waits until the monotonic instant, late by one turn of the loop at most. A plain timer is late by half a millisecond
 * on average: 3 % of a 20 ms engine call, as much as the benches want to measure. I/O goes on in the meantime.
 */
export async function sleepUntil(instantMs: number): Promise<void> {
  const timerMs = Math.floor(instantMs - performance.now() - TIMER_SLACK_MS);
  if (timerMs >= 1) await sleep(timerMs);
  while (performance.now() < instantMs) await nextTurn();
}
