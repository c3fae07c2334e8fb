import { RECOGNISER_RATE, samplesOf } from '@switchyard/engine-api/audio/pcm.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';

/** Rates whose filter is small; what microphones and telephones deliver. */
const RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/**
 * PCM s16le frames of a live stream as samples at 16 kHz. A frame may end in the
 * middle of a sample or of a filter: the state carries on, so any cutting gives
 * the same samples.
 */
export class PcmIntake {
  readonly #resampler: Resampler | undefined;
  #oddByte: Uint8Array = new Uint8Array(0);

  /** @throws DomainError `invalid_value` naming the rates. */
  constructor(sampleRate: number) {
    if (!RATES.some(rate => rate === sampleRate)) {
      const message = `sample_rate must be one of ${RATES.join(', ')}, not ${sampleRate}.`;
      throw invalidField('sample_rate', message);
    }
    this.#resampler =
      sampleRate === RECOGNISER_RATE ? undefined : new Resampler(sampleRate, RECOGNISER_RATE);
  }

  take(frame: Uint8Array): Int16Array {
    const bytes = this.#oddByte.length === 0 ? frame : Buffer.concat([this.#oddByte, frame]);
    this.#oddByte = bytes.slice(bytes.length - (bytes.length % 2));
    const samples = samplesOf(bytes);
    return this.#resampler?.process(samples) ?? samples;
  }

  /** What the filter still holds. The stream has ended. */
  end(): Int16Array {
    return this.#resampler?.flush() ?? new Int16Array(0);
  }
}

/**
 * Half the filter's length in zero crossings of the slower rate: 16 taps per phase when
 * the rate rises.
 */
const HALF_TAPS = 16;
/** The part of the narrower band that is kept; the rest is the filter's slope. */
const PASSBAND = 0.92;

/**
 * Streaming change of sample rate by a polyphase windowed sinc (ENGINES "Small parts").
 * What comes out does not depend on how the input was cut: the state carries everything.
 * Mono; samples are s16, sums are double.
 *
 * The output starts with the first input sample (the filter's delay is taken off) and
 * has, after `flush`, `ceil(inputs * toRate / fromRate)` samples.
 */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  readonly #phases: readonly Float64Array[];
  readonly #taps: number;
  #history: Float64Array;
  /** Of the next output: its phase, and where in `#history` its first tap stands. */
  #phase = 0;
  #position = 0;
  #received = 0;
  #produced = 0;

  /** Rates in Hz, whole numbers. */
  constructor(fromRate: number, toRate: number) {
    const divisor = greatestCommonDivisor(fromRate, toRate);
    this.#up = toRate / divisor;
    this.#down = fromRate / divisor;
    const half = Math.ceil(HALF_TAPS * Math.max(1, this.#down / this.#up));
    this.#taps = 2 * half;
    this.#phases = filterPhases(this.#up, this.#down, half);
    // half - 1 zeros before the first sample centre the filter on it.
    this.#history = new Float64Array(half - 1);
  }

  /**
   * The outputs that `samples` complete; the rest follows with the next call
   * or with `flush`.
   */
  process(samples: Int16Array): Int16Array {
    this.#received += samples.length;
    return this.#run(samples);
  }

  /** The last outputs. The stream has ended: nothing may be processed afterwards. */
  flush(): Int16Array {
    const total = Math.ceil((this.#received * this.#up) / this.#down);
    const rest = this.#run(new Int16Array(this.#taps));
    const missing = total - (this.#produced - rest.length);
    return rest.subarray(0, missing);
  }

  #run(samples: Int16Array): Int16Array {
    const input = new Float64Array(this.#history.length + samples.length);
    input.set(this.#history);
    input.set(samples, this.#history.length);
    const output = new Int16Array(
      Math.ceil(((samples.length + this.#taps) * this.#up) / this.#down) + 1,
    );
    let count = 0;
    for (; this.#position + this.#taps <= input.length; count += 1) {
      output[count] = clipped(dot(this.#phases[this.#phase]!, input, this.#position));
      this.#advance();
    }
    const kept = Math.min(this.#position, input.length);
    this.#history = input.slice(kept);
    this.#position -= kept;
    this.#produced += count;
    return output.subarray(0, count);
  }

  #advance(): void {
    const next = this.#phase + this.#down;
    this.#position += Math.floor(next / this.#up);
    this.#phase = next % this.#up;
  }
}

function dot(taps: Float64Array, input: Float64Array, offset: number): number {
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap += 1) sum += taps[tap]! * input[offset + tap]!;
  return sum;
}

const clipped = (value: number): number => Math.max(-32768, Math.min(32767, Math.round(value)));

/**
 * One filter per sub-sample position `p / up`, each with sum 1, so that a constant stays
 * what it is.
 */
function filterPhases(up: number, down: number, half: number): Float64Array[] {
  const cutoff = 0.5 * Math.min(1, up / down) * PASSBAND;
  return Array.from({ length: up }, (_, phase) => {
    const centre = half - 1 + phase / up;
    const taps = Float64Array.from({ length: 2 * half }, (__, tap) =>
      windowedSinc(tap - centre, cutoff, half),
    );
    const sum = taps.reduce((total, tap) => total + tap, 0);
    return taps.map(tap => tap / sum);
  });
}

/** Blackman window over `-half..half`. */
function windowedSinc(distance: number, cutoff: number, half: number): number {
  const relative = distance / half;
  if (Math.abs(relative) >= 1) return 0;
  const window =
    0.42 + 0.5 * Math.cos(Math.PI * relative) + 0.08 * Math.cos(2 * Math.PI * relative);
  const x = Math.PI * 2 * cutoff * distance;
  return window * (Math.abs(x) < 1e-9 ? 1 : Math.sin(x) / x);
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);
