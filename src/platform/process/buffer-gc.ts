import { collectGarbage } from './idle-gc.js';

const EVERY_BYTES = 8 * 2 ** 20;

let passedBytes = 0;

/**
 * To be called with every piece of a file that this process only passes on: collects the buffers of those before.
 *
 * A piece is copied two or three times on its way (socket, message, frame). Its memory is not in the heap, and V8 looks
 * for it only when 64 MiB of it wait; so much larger was every process through which a long file went.
 */
export function filePassed(bytes: number, collect: typeof collectGarbage = collectGarbage): void {
  passedBytes += bytes;
  if (passedBytes < EVERY_BYTES) return;
  passedBytes = 0;
  collect({ type: 'minor' });
}
