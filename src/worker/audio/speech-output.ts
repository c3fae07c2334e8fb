import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SpeechEncoder } from './encode.js';
import { SPEECH_RATE } from './pcm.js';
import { Resampler } from './resampler.js';

/** 0.17 s at 24 kHz: well under a millisecond of filtering between two turns of the event loop. */
const SLICE = 4096;

/**
 * What one synthesis writes into: brought to 24 kHz and encoded in the order of arrival, in slices, so that the engine's
 * `emit` returns at once and the process goes on serving. The backlog is bounded by the length of the text.
 */
export class SpeechOutput {
  readonly #encoder: SpeechEncoder;
  readonly #resampler: Resampler | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(encoder: SpeechEncoder, sampleRate: number) {
    this.#encoder = encoder;
    this.#resampler = sampleRate === SPEECH_RATE ? undefined : new Resampler(sampleRate, SPEECH_RATE);
  }

  /** Takes the samples and returns; they are copied, an engine may use its buffer again. */
  write(samples: Int16Array): void {
    const taken = samples.slice();
    this.#written = this.#written.then(() => this.#encode(taken));
    // Told by finish(); until then a rejection has nobody to hear it.
    this.#written.catch(() => undefined);
  }

  /** Resolves after the last encoded byte. @throws DomainError when encoding failed or was aborted. */
  async finish(): Promise<void> {
    await this.#written;
    if (this.#resampler) await this.#encoder.write(this.#resampler.flush());
    await this.#encoder.finish();
  }

  async #encode(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += SLICE) {
      const slice = samples.subarray(at, at + SLICE);
      await this.#encoder.write(this.#resampler?.process(slice) ?? slice);
      await nextTurn();
    }
  }
}
