import { setFlagsFromString } from 'node:v8';

/** Of V8, which reads them whenever it collects. */
export const HEAP_FLAGS = [
  // It waits for 8 s of rest before it makes itself small, and drops compiled code with the rest: callers who pause for
  // some seconds would pay a third more CPU for their next requests (benchmarks.md).
  '--gc-memory-reducer-start-delay-ms=60000',
  // It lets the heap grow up to fourfold between large collections, and what dead objects hold outside of the heap as
  // well: 543 MiB after streams in place of 394, for the same CPU.
  '--heap-growing-percent=100',
];

/** To be called once by a process that serves. */
export function setHeapFlags(): void {
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
}
