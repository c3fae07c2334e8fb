import { setFlagsFromString } from 'node:v8';
import { collectGarbage } from './idle-gc.js';

/** V8 itself waits for 8 s. */
const REST_MS = 60_000;

/**
 * Gives back what the start left behind (75 of 225 MiB of a gateway), in 0.1 to 0.3 s: V8 keeps it until it has to
 * collect, and a process that was never busy never has to. To be called once, when a process is ready and before it has
 * worked: such a collection drops compiled code too.
 *
 * For the same reason V8 collects after work only when the process has rested for a minute: callers who pause for some
 * seconds would pay a third more CPU for their next requests (benchmarks.md).
 */
export function releaseStart(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${REST_MS}`);
  // Other collections keep the pages that they free for objects to come.
  collectGarbage({ type: 'major', flavor: 'last-resort' });
}
