import { FadingMean } from './means.js';

/** Answers that are made side by side until a sentence has been timed. */
const USUAL_TOGETHER = 4;
const MOST_TOGETHER = 16;
/**
 * Part of the device time that is planned; the rest is for sentences that take longer than
 * the mean.
 */
const USABLE = 0.8;

/** How long a voice takes for a text, and how long it sounds, by what it has spoken. */
export class SpeechPace {
  readonly #deviceMs = new FadingMean();
  readonly #audioMs = new FadingMean();

  /** @param characters of a sentence, divided by its speed */
  observe(characters: number, deviceMs: number, audioMs: number): void {
    if (characters <= 0) return;
    this.#deviceMs.add(deviceMs / characters, characters);
    this.#audioMs.add(audioMs / characters, characters);
  }

  /**
   * Expected times of a sentence; 0 before anything was spoken.
   * @param characters of the sentence, divided by its speed
   */
  expected(characters: number): { readonly deviceMs: number; readonly audioMs: number } {
    return {
      deviceMs: characters * this.#deviceMs.mean,
      audioMs: characters * this.#audioMs.mean,
    };
  }

  /** Answers that the device can make as fast as they are played, 1 at least. */
  get together(): number {
    const device = this.#deviceMs.value;
    if (!device) return USUAL_TOGETHER;
    const answers = Math.floor((USABLE * this.#audioMs.mean) / device);
    return Math.min(MOST_TOGETHER, Math.max(1, answers));
  }
}
