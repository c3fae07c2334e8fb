import { compressionRatio } from '../../../contracts/formats/compression-ratio.js';

/** One window decoded once, at one temperature. */
export interface WindowResult {
  /** Text and times, without the end. */
  readonly tokens: readonly number[];
  /** ln probability of each of `tokens`. */
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly temperature: number;
  readonly avgLogprob: number;
  readonly noSpeechProb: number;
}

/** Thresholds of OpenAI's reference (whisper/transcribe.py). */
const MOST_COMPRESSION = 2.4;
const LEAST_LOGPROB = -1;
const MOST_NO_SPEECH = 0.6;
/** Tried in turn when the caller leaves the temperature at 0. */
const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** The temperatures to try for a request: the ladder for 0, else the one asked for. */
export function temperatureLadder(temperature: number): readonly number[] {
  return temperature === 0 ? TEMPERATURES : [temperature];
}

/** Repeats itself, or is unsure of itself, and does not look like silence: worth another try at a higher temperature. */
export function needsAnotherTry(result: WindowResult): boolean {
  if (isSilence(result)) return false;
  return compressionRatio(result.text) > MOST_COMPRESSION || result.avgLogprob < LEAST_LOGPROB;
}

/** Probably no speech, and the text was a guess: the window is skipped. */
export function isSilence({ noSpeechProb, avgLogprob }: WindowResult): boolean {
  return noSpeechProb > MOST_NO_SPEECH && avgLogprob < LEAST_LOGPROB;
}
