import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';

interface CutRules {
  /** Longest window. */
  readonly maxS: number;
  /** Shortest silence to cut at. */
  readonly silenceS: number;
  /** Quiet is what has at most this share of the mean energy: 0.03 is 15 dB below. */
  readonly quietShare: number;
  /**
   * Of the silence, what the window after it gets; the window before gets the rest.
   * Absent: half of it.
   */
  readonly paddingS?: number;
}

/** A piece of long audio, to be recognised by itself. */
export interface AudioWindow {
  /** Number of the window, from 0. */
  readonly index: number;
  /** Mono, 16 kHz; its own memory. */
  readonly samples: Int16Array;
  /** Seconds from the start of the audio. */
  readonly startS: number;
  readonly durationS: number;
  /**
   * Seconds at its beginning, and at its end, that the window before, or after, has too;
   * 0: cut at a silence.
   */
  readonly sharedBeforeS: number;
  readonly sharedAfterS: number;
}

/**
 * No silence in half a window: the next one begins this much before the end, so that the
 * word that was cut is whole once.
 */
const OVERLAP_S = 2;
/** Audio below -50 dB of full scale is quiet, however quiet the rest is. */
const QUIET_ENERGY = 32_768 ** 2 * 1e-5;
const STEP = RECOGNISER_RATE / 100;

/**
 * Cuts audio at the last silence of each window's second half, as it comes: never more
 * than one window is held. The windows cover everything, in order.
 */
export async function* cutIntoWindows(
  pieces: AsyncIterable<Int16Array>,
  rules: CutRules,
): AsyncGenerator<AudioWindow> {
  const held = new Int16Array(Math.round(rules.maxS * RECOGNISER_RATE));
  /** Samples held, and where the first of them stands in the audio. */
  let [length, start] = [0, 0];
  let [index, shared] = [0, 0];
  const window = (end: number, sharedAfter: number): AudioWindow => {
    const made = {
      index: index++,
      samples: held.slice(0, end),
      startS: start / RECOGNISER_RATE,
      durationS: end / RECOGNISER_RATE,
      sharedBeforeS: shared / RECOGNISER_RATE,
      sharedAfterS: sharedAfter / RECOGNISER_RATE,
    };
    const from = end - sharedAfter;
    held.copyWithin(0, from, length);
    start += from;
    length -= from;
    shared = sharedAfter;
    return made;
  };
  for await (const piece of pieces)
    for (let at = 0; at < piece.length;) {
      // Cut only when there is more: what fits as a whole stays whole.
      if (length === held.length) yield window(...placeOfCut(held, rules));
      const part = piece.subarray(at, at + held.length - length);
      held.set(part, length);
      length += part.length;
      at += part.length;
    }
  if (length > shared) yield window(length, 0);
}

/** Where a full window ends, and how much of it the next one has, too. */
function placeOfCut(samples: Int16Array, rules: CutRules): [end: number, shared: number] {
  const silence = lastSilence(samples, rules);
  if (silence !== undefined) return [silence, 0];
  const overlap = Math.min(OVERLAP_S * RECOGNISER_RATE, samples.length / 4);
  return [samples.length, Math.round(overlap)];
}

/** Where to cut: inside the last silence of the second half. Undefined: there is none. */
function lastSilence(
  samples: Int16Array,
  { silenceS, quietShare, paddingS }: CutRules,
): number | undefined {
  const energies = stepEnergies(samples);
  const mean = energies.reduce((sum, energy) => sum + energy, 0) / energies.length;
  const limit = Math.max(QUIET_ENERGY, quietShare * mean);
  const wanted = Math.max(1, Math.round(silenceS * 100));
  let end = 0;
  let quiet = 0;
  for (let step = energies.length - 1; step >= energies.length / 2; step -= 1) {
    if (energies[step]! > limit) quiet = 0;
    else {
      if (quiet === 0) end = step + 1;
      quiet += 1;
      if (quiet === wanted)
        return (
          end * STEP - Math.round(Math.min(paddingS ?? silenceS / 2, silenceS) * RECOGNISER_RATE)
        );
    }
  }
  return undefined;
}

/** Mean square of every 10 ms. */
function stepEnergies(samples: Int16Array): number[] {
  const energies: number[] = [];
  for (let from = 0; from + STEP <= samples.length; from += STEP) {
    let energy = 0;
    for (let i = from; i < from + STEP; i += 1) energy += samples[i]! ** 2;
    energies.push(energy / STEP);
  }
  return energies;
}
