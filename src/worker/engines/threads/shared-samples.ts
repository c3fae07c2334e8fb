import { setImmediate as nextTurn } from 'node:timers/promises';

/** 2 MB per turn of the loop: well under a millisecond of copying. */
const SAMPLES_PER_TURN = 1_048_576;

/**
 * Samples in memory that a decoder thread reads without another copy. An hour of audio is 115 MB: posting it would
 * copy it in one go and hold up every other call of the process, so it is copied a slice per turn of the loop.
 */
export async function shareSamples(samples: Int16Array): Promise<Int16Array<SharedArrayBuffer>> {
  const shared = new Int16Array(new SharedArrayBuffer(samples.byteLength));
  for (let from = 0; from < samples.length; from += SAMPLES_PER_TURN) {
    if (from > 0) await nextTurn();
    shared.set(samples.subarray(from, from + SAMPLES_PER_TURN), from);
  }
  return shared;
}
