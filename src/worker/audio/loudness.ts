import { setImmediate as nextTurn } from 'node:timers/promises';
import { abortError } from '../execution/work-item.js';
import { LoudnessMeter } from './loudness-meter.js';

/** A minute: 2 ms of work, then the event loop has its turn. */
const SLICE = 960_000;

/**
 * The samples at the usual loudness of speech, by one gain for the whole item, a file or a window of a long one: a gain per frame lifts the silence between
 * words to the level of speech (LESSONS "Workers"). The same array when there is nothing to change.
 * @throws the abort's own error.
 */
export async function normaliseLoudness(samples: Int16Array, signal: AbortSignal): Promise<Int16Array> {
  const meter = new LoudnessMeter();
  for await (const slice of slicesOf(samples, signal)) meter.add(slice);
  const gain = meter.gain();
  if (gain === 1) return samples;
  const louder = new Int16Array(samples.length);
  let at = 0;
  for await (const slice of slicesOf(samples, signal)) {
    louder.set(amplified(slice, gain), at);
    at += slice.length;
  }
  return louder;
}

/** What would exceed full scale is clipped. */
export const amplified = (samples: Int16Array, gain: number): Int16Array =>
  samples.map(sample => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));

async function* slicesOf(samples: Int16Array, signal: AbortSignal): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += SLICE) {
    if (at > 0) await nextTurn();
    if (signal.aborted) throw abortError(signal);
    yield samples.subarray(at, at + SLICE);
  }
}
