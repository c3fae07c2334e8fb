import { RECOGNISER_RATE, samplesOf } from '@switchyard/engine-api/audio/pcm.js';

/** Filters of ffmpeg that make two channels of any file: the mean of all, and the left one. */
export const MIX_FILTERS =
  'aformat=sample_fmts=s16:channel_layouts=mono|stereo,pan=stereo|c0<c0+c1|c1=c0';
/** Samples that are judged together: 0.1 s. */
const BLOCK = RECOGNISER_RATE / 10;
/** Two channels of two bytes. */
const FRAME_BYTES = 4;
/** A mean with less than this part of the left channel's energy: the channels cancel out. */
const CANCELLED = 0.01;

/**
 * What `MIX_FILTERS` make, s16le, as one channel: the mean, or the left channel where right is
 * its opposite and the mean would be silent. It may be cut anywhere.
 */
export class MixDown {
  #rest: Uint8Array = new Uint8Array(0);

  /** @returns the blocks that `bytes` complete */
  take(bytes: Uint8Array): Int16Array {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % (BLOCK * FRAME_BYTES));
    this.#rest = all.slice(whole);
    return mixed(samplesOf(all.subarray(0, whole)));
  }

  /** The stream has ended. @returns what is left, less than a block */
  end(): Int16Array {
    return mixed(samplesOf(this.#rest.subarray(0, this.#rest.length & -FRAME_BYTES)));
  }
}

function mixed(pairs: Int16Array): Int16Array {
  const samples = new Int16Array(pairs.length / 2);
  for (let start = 0; start < samples.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, samples.length);
    const channel = isCancelled(pairs, start, end) ? 1 : 0;
    for (let at = start; at < end; at += 1) samples[at] = pairs[2 * at + channel]!;
  }
  return samples;
}

function isCancelled(pairs: Int16Array, start: number, end: number): boolean {
  let [mean, left] = [0, 0];
  for (let at = 2 * start; at < 2 * end; at += 2) {
    mean += pairs[at]! ** 2;
    left += pairs[at + 1]! ** 2;
  }
  return mean < CANCELLED * left;
}
