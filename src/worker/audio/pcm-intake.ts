import { DomainError } from '../../core/shared/domain-error.js';
import { RECOGNISER_RATE, samplesOf } from './pcm.js';
import { Resampler } from './resampler.js';

/** Rates whose filter is small; what microphones and telephones deliver. */
const RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/**
 * PCM s16le frames of a live stream as samples at 16 kHz. A frame may end in the middle of a sample or of a filter: the state
 * carries on, so any cutting gives the same samples.
 */
export class PcmIntake {
  readonly #resampler: Resampler | undefined;
  #oddByte: Uint8Array = new Uint8Array(0);

  /** @throws DomainError `invalid_value` naming the rates. */
  constructor(sampleRate: number) {
    if (!RATES.some(rate => rate === sampleRate)) {
      const message = `sample_rate must be one of ${RATES.join(', ')}, not ${sampleRate}.`;
      throw new DomainError('invalid_value', message, { param: 'sample_rate' });
    }
    this.#resampler = sampleRate === RECOGNISER_RATE ? undefined : new Resampler(sampleRate, RECOGNISER_RATE);
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
