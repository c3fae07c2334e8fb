import { setImmediate as nextTurn } from 'node:timers/promises';
import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { abortError } from '../../core/errors/abort-error.js';

const BLOCK = RECOGNISER_RATE / 10;
const FULL_SCALE = 32_768;

/** Loudness of speech in usual recordings. */
const TARGET_DB = -23;
/** What is quieter has less than 3 bits of signal, and is not speech. */
const GATE_DB = -75;
/** Pauses and breath between words are not the loudness of the voice (EBU R 128). */
const RELATIVE_GATE_DB = -10;
const MOST_GAIN_DB = 40;
/** Recognisers do not notice a smaller gain. */
const LEAST_GAIN_DB = 3;
/**
 * Between the loud and the quiet tenth of speech lie 15 dB and more; of noise or
 * a hum, 3.
 */
const LEAST_RANGE_DB = 8;
/** Room that the loudest syllables keep below full scale. */
const HEADROOM_DB = -1;

/** A tenth of a second of audio: its level in dB, and its loudest sample. */
interface Block {
  readonly level: number;
  readonly peak: number;
}

/**
 * How loud the speech of one file is, and the one gain that would bring it to the usual
 * loudness. dB are relative to full scale. Nothing is carried from file to file, and
 * nothing depends on how the samples were cut.
 */
export function loudnessMeter() {
  const blocks: Block[] = [];
  let [energy, peak, filled] = [0, 0, 0];
  return {
    /** Mono, 16 kHz, in order. */
    add: (samples: Int16Array): void => {
      for (const sample of samples) {
        energy += sample * sample;
        peak = Math.max(peak, Math.abs(sample));
        filled += 1;
        if (filled < BLOCK) continue;
        blocks.push({ level: decibels(Math.sqrt(energy / filled)), peak });
        energy = peak = filled = 0;
      }
    },
    gain: (): number => gainOf(blocks),
  };
}

/**
 * Factor, at least 1; 1 for silence, for sound without the ups and downs of speech, and
 * for what is loud enough.
 */
function gainOf(blocks: readonly Block[]): number {
  const audible = blocks.filter(({ level }) => level > GATE_DB);
  const levels = blocks.map(({ level }) => level);
  if (!hasDynamics(levels, audible.length)) return 1;
  const gate = meanDb(audible) + RELATIVE_GATE_DB;
  const spoken = audible.filter(({ level }) => level > gate);
  // A click among a thousand blocks is no reason to leave a file unheard:
  // it is clipped.
  const peak = quantile(spoken.map(block => block.peak), 0.99); // prettier-ignore
  const gainDb = Math.min(TARGET_DB - meanDb(spoken), HEADROOM_DB - decibels(peak), MOST_GAIN_DB);
  return gainDb < LEAST_GAIN_DB ? 1 : 10 ** (gainDb / 20);
}

function hasDynamics(levels: readonly number[], audible: number): boolean {
  return (
    audible > 0 &&
    quantile(levels, 0.95) - Math.max(GATE_DB, quantile(levels, 0.1)) >= LEAST_RANGE_DB
  );
}

const decibels = (amplitude: number): number =>
  20 * Math.log10(Math.max(amplitude, 1e-9) / FULL_SCALE);

const meanDb = (blocks: readonly Block[]): number =>
  10 * Math.log10(blocks.reduce((sum, { level }) => sum + 10 ** (level / 10), 0) / blocks.length);

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? -Infinity;

/** A minute: 2 ms of work, then the event loop has its turn. */
const SLICE = 960_000;

/**
 * The samples at the usual loudness of speech, by one gain for the whole item, a file or
 * a window of a long one: a gain per frame lifts the silence between words to the level
 * of speech. The same array when there is nothing to change.
 * @throws the abort's own error.
 */
export async function normaliseLoudness(
  samples: Int16Array,
  signal: AbortSignal,
): Promise<Int16Array> {
  const meter = loudnessMeter();
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

/** The samples times `gain`, clipped at full scale. */
const amplified = (samples: Int16Array, gain: number): Int16Array =>
  samples.map(sample => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));

async function* slicesOf(samples: Int16Array, signal: AbortSignal): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += SLICE) {
    if (at > 0) await nextTurn();
    if (signal.aborted) throw abortError(signal);
    yield samples.subarray(at, at + SLICE);
  }
}
