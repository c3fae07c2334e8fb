import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Of V8, which reads them whenever it collects, and whenever a function has
 * been called often.
 */
export const V8_FLAGS = [
  // It waits for 8 s of rest before it makes itself small, and drops compiled code with
  // the rest: callers who pause for some seconds would pay a third more CPU for their
  // next requests (test/bench/README.md).
  '--gc-memory-reducer-start-delay-ms=60000',
  // It lets the heap grow up to fourfold between large collections, and what dead
  // objects hold outside of the heap as well: 543 MiB after streams in place of 394, for
  // the same CPU.
  '--heap-growing-percent=100',
  // It optimizes a function after 400 calls a little and after 3,000 fully. A request
  // goes through some thousand functions, each once or twice, so that the first 20,000
  // requests after a start cost up to twice the CPU of later ones. After 100 and 500
  // calls instead, lone chats came 1.3 to 1.4 times as often in the first half minute.
  '--invocation-count-for-maglev=100',
  '--invocation-count-for-turbofan=500',
];

/**
 * Sets the flags, and gives back what the start left behind (75 of 225 MiB of a gateway),
 * in 0.1 to 0.3 s: V8 keeps it until it has to collect, and a process that was never busy
 * never has to. To be called once, when a process is ready and before it has worked: such
 * a collection drops compiled code too.
 */
export function finishStart(): void {
  // V8 gives its collector to contexts that are made after the flag is set.
  for (const flag of [...V8_FLAGS, '--expose-gc']) setFlagsFromString(flag);
  const collect = runInNewContext('gc') as (options: {
    readonly type: 'major';
    readonly flavor: 'last-resort';
  }) => void;
  // Other collections keep the pages that they free for objects to come.
  collect({ type: 'major', flavor: 'last-resort' });
}
