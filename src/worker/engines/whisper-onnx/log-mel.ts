import { melFilterbank, type MelFilter } from './mel-filterbank.js';
import { Fft, powerSpectra } from './real-fft.js';

const SAMPLE_RATE = 16_000;
const FFT_LENGTH = 400;
/** 10 ms. */
export const HOP_SAMPLES = 160;
const BINS = FFT_LENGTH / 2 + 1;
const FLOOR = 1e-10;
/** Frames between two looks at the cancel flag: 10 s of audio. */
const FRAMES_PER_LOOK = 1000;

/** log10 of the mel energies of a whole audio, [mels][frames], not yet normalised. */
export interface LogMel {
  readonly mels: number;
  /** Columns of `values`: every frame that touches the audio. */
  readonly frames: number;
  /** Whole hops of audio: what is to be transcribed. */
  readonly contentFrames: number;
  readonly values: Float32Array;
}

/** Frames that touch the audio, the last of them only with their first half. */
export const framesOf = (samples: number): number =>
  samples === 0 ? 0 : Math.ceil((samples + FFT_LENGTH / 2) / HOP_SAMPLES);

/**
 * Whisper's features: 25 ms Hann frames every 10 ms, centred, reflected at the start, silence after the end; power spectrum,
 * Slaney mels, log10. Answers false when cancelled. Results go to `values`, which may be shared memory.
 */
export class LogMelExtractor {
  readonly #filters: readonly MelFilter[];
  readonly #window = Float64Array.from(
    { length: FFT_LENGTH },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FFT_LENGTH),
  );
  readonly #fft = new Fft(FFT_LENGTH);
  readonly #frames = [new Float64Array(FFT_LENGTH), new Float64Array(FFT_LENGTH)] as const;
  readonly #power = [new Float64Array(BINS), new Float64Array(BINS)] as const;

  constructor(readonly mels: number) {
    this.#filters = melFilterbank(mels, FFT_LENGTH, SAMPLE_RATE);
  }

  extract(samples: Int16Array, values: Float32Array, isCancelled: () => boolean): boolean {
    const frames = framesOf(samples.length);
    for (let frame = 0; frame < frames; frame += 2) {
      if (frame % FRAMES_PER_LOOK === 0 && isCancelled()) return false;
      this.#cut(samples, frame, this.#frames[0]);
      this.#cut(samples, frame + 1, this.#frames[1]);
      powerSpectra(this.#fft, ...this.#frames, ...this.#power);
      this.#filter(this.#power[0], values, frame, frames);
      if (frame + 1 < frames) this.#filter(this.#power[1], values, frame + 1, frames);
    }
    return true;
  }

  #cut(samples: Int16Array, frame: number, into: Float64Array): void {
    const from = frame * HOP_SAMPLES - FFT_LENGTH / 2;
    for (let i = 0; i < FFT_LENGTH; i++) into[i] = ((samples[Math.abs(from + i)] ?? 0) / 32_768) * this.#window[i]!;
  }

  #filter(power: Float64Array, values: Float32Array, frame: number, frames: number): void {
    this.#filters.forEach(({ first, weights }, mel) => {
      let energy = 0;
      for (let k = 0; k < weights.length; k++) energy += weights[k]! * power[first + k]!;
      values[mel * frames + frame] = Math.log10(Math.max(FLOOR, energy));
    });
  }
}

/**
 * One encoder window into `into` ([mels][windowFrames]), normalised by its own loudest value as the feature extractor of the
 * public models does. What lies behind the audio's end is silence.
 */
export function writeWindow(mel: LogMel, fromFrame: number, windowFrames: number, into: Float32Array): void {
  const present = Math.max(0, Math.min(windowFrames, mel.frames - fromFrame));
  let loudest = Math.log10(FLOOR);
  for (let m = 0; m < mel.mels; m++) {
    const row = m * mel.frames + fromFrame;
    for (let i = 0; i < present; i++) loudest = Math.max(loudest, mel.values[row + i]!);
  }
  const lowest = loudest - 8;
  const silence = (Math.max(Math.log10(FLOOR), lowest) + 4) / 4;
  into.fill(silence, 0, mel.mels * windowFrames);
  for (let m = 0; m < mel.mels; m++) {
    const row = m * mel.frames + fromFrame;
    for (let i = 0; i < present; i++) into[m * windowFrames + i] = (Math.max(mel.values[row + i]!, lowest) + 4) / 4;
  }
}
