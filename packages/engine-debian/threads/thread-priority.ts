import { setPriority } from 'node:os';

/** About a tenth of the weight of other threads, on a core that they share. */
const NICE = 10;

/**
 * This thread has what live streams leave of a core. Linux has a priority for
 * each thread, and sets that of the one that asks; elsewhere it would be that of
 * the whole process.
 */
export function goBehindStreams(): void {
  if (process.platform === 'linux') setPriority(NICE);
}
