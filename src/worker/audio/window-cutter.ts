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
  /** From 0. */
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
/** Quiet whatever the rest is: -50 dB of full scale. */
const QUIET_ENERGY = 32_768 ** 2 * 1e-5;
const STEP = RECOGNISER_RATE / 100;

/**
 * Cuts audio at the last silence of each window's second half, as it comes: never more
 * than one window is held. The windows cover everything, in order.
 */
export const cutIntoWindows = (
  pieces: AsyncIterable<Int16Array>,
  rules: CutRules,
): AsyncGenerator<AudioWindow> => new WindowCutter(rules).windows(pieces);

class WindowCutter {
  readonly #held: Int16Array;
  #length = 0;
  #index = 0;
  /** Of the first sample held. */
  #start = 0;
  #shared = 0;

  constructor(private readonly rules: CutRules) {
    this.#held = new Int16Array(Math.round(rules.maxS * RECOGNISER_RATE));
  }

  async *windows(pieces: AsyncIterable<Int16Array>): AsyncGenerator<AudioWindow> {
    for await (const piece of pieces)
      for (let at = 0; at < piece.length;) {
        // Cut only when there is more: what fits as a whole stays whole.
        if (this.#length === this.#held.length) yield this.#cut();
        const part = piece.subarray(at, at + this.#held.length - this.#length);
        this.#held.set(part, this.#length);
        this.#length += part.length;
        at += part.length;
      }
    if (this.#length > this.#shared) yield this.#window(this.#length, 0);
  }

  #cut(): AudioWindow {
    const silence = lastSilence(this.#held, this.rules);
    if (silence !== undefined) return this.#window(silence, 0);
    const overlap = Math.round(
      Math.min(OVERLAP_S * RECOGNISER_RATE, this.#held.length / 4),
    );
    return this.#window(this.#length, overlap);
  }

  #window(end: number, sharedAfter: number): AudioWindow {
    const window = {
      index: this.#index,
      samples: this.#held.slice(0, end),
      startS: this.#start / RECOGNISER_RATE,
      durationS: end / RECOGNISER_RATE,
      sharedBeforeS: this.#shared / RECOGNISER_RATE,
      sharedAfterS: sharedAfter / RECOGNISER_RATE,
    };
    const from = end - sharedAfter;
    this.#held.copyWithin(0, from, this.#length);
    this.#index += 1;
    this.#start += from;
    this.#length -= from;
    this.#shared = sharedAfter;
    return window;
  }
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
          end * STEP -
          Math.round(Math.min(paddingS ?? silenceS / 2, silenceS) * RECOGNISER_RATE)
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
