/** Splits n into radices up to 5, largest first; 400 = 5 · 5 · 4 · 4. */
function radicesOf(n: number): number[] {
  const radices: number[] = [];
  for (const radix of [5, 4, 3, 2]) for (; n % radix === 0; n /= radix) radices.push(radix);
  if (n !== 1) throw new Error(`A Fourier transform of this length has a prime factor above 5: ${n}`);
  return radices;
}

/**
 * Complex Fourier transform of a fixed length (mixed radix, Stockham order: no bit reversal). Whisper's frames have 400
 * samples, which no power-of-two transform fits without changing the result.
 */
export class Fft {
  readonly #radices: readonly number[];
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  #re: Float64Array;
  #im: Float64Array;

  constructor(readonly length: number) {
    this.#radices = radicesOf(length);
    this.#cos = Float64Array.from({ length }, (_, k) => Math.cos((2 * Math.PI * k) / length));
    this.#sin = Float64Array.from({ length }, (_, k) => -Math.sin((2 * Math.PI * k) / length));
    this.#re = new Float64Array(length);
    this.#im = new Float64Array(length);
  }

  /** In place. */
  transform(re: Float64Array, im: Float64Array): void {
    let [fromRe, fromIm, toRe, toIm] = [re, im, this.#re, this.#im];
    let groups = this.length;
    let stride = 1;
    for (const radix of this.#radices) {
      groups /= radix;
      this.#pass({ radix, groups, stride }, fromRe, fromIm, toRe, toIm);
      stride *= radix;
      [fromRe, fromIm, toRe, toIm] = [toRe, toIm, fromRe, fromIm];
    }
    if (fromRe === re) return;
    re.set(fromRe);
    im.set(fromIm);
  }

  #pass(
    { radix, groups, stride }: { radix: number; groups: number; stride: number },
    ...[fromRe, fromIm, toRe, toIm]: [Float64Array, Float64Array, Float64Array, Float64Array]
  ): void {
    const { length } = this;
    const [cos, sin] = [this.#cos, this.#sin];
    const turn = length / radix;
    for (let p = 0; p < groups; p++) {
      for (let k = 0; k < radix; k++) {
        const twiddle = (p * k * stride) % length;
        const [twiddleCos, twiddleSin] = [cos[twiddle]!, sin[twiddle]!];
        for (let q = 0; q < stride; q++) {
          let [sumRe, sumIm] = [0, 0];
          for (let j = 0, w = 0; j < radix; j++, w = (w + k * turn) % length) {
            const at = q + stride * (p + groups * j);
            sumRe += fromRe[at]! * cos[w]! - fromIm[at]! * sin[w]!;
            sumIm += fromRe[at]! * sin[w]! + fromIm[at]! * cos[w]!;
          }
          const to = q + stride * (radix * p + k);
          toRe[to] = sumRe * twiddleCos - sumIm * twiddleSin;
          toIm[to] = sumRe * twiddleSin + sumIm * twiddleCos;
        }
      }
    }
  }
}

/**
 * Power spectra of two real frames by one complex transform: one frame is the real part, the other the imaginary one.
 * Writes `length / 2 + 1` values per frame.
 */
export function powerSpectra(
  fft: Fft,
  re: Float64Array,
  im: Float64Array,
  first: Float64Array,
  second: Float64Array,
): void {
  const { length } = fft;
  fft.transform(re, im);
  for (let k = 0; k <= length / 2; k++) {
    const mirror = (length - k) % length;
    const [sumRe, differenceRe] = [(re[k]! + re[mirror]!) / 2, (re[k]! - re[mirror]!) / 2];
    const [sumIm, differenceIm] = [(im[k]! + im[mirror]!) / 2, (im[k]! - im[mirror]!) / 2];
    first[k] = sumRe * sumRe + differenceIm * differenceIm;
    second[k] = sumIm * sumIm + differenceRe * differenceRe;
  }
}

/** One triangular filter: weights of consecutive bins from `first`. */
interface MelFilter {
  readonly first: number;
  readonly weights: Float64Array;
}

const LINEAR_HZ_PER_MEL = 200 / 3;
const LOG_FROM_HZ = 1000;
const LOG_FROM_MEL = LOG_FROM_HZ / LINEAR_HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

/** Slaney's scale: linear up to 1 kHz, logarithmic above. */
const hzOf = (mel: number): number =>
  mel < LOG_FROM_MEL ? mel * LINEAR_HZ_PER_MEL : LOG_FROM_HZ * Math.exp(LOG_STEP * (mel - LOG_FROM_MEL));

const melOf = (hz: number): number =>
  hz < LOG_FROM_HZ ? hz / LINEAR_HZ_PER_MEL : LOG_FROM_MEL + Math.log(hz / LOG_FROM_HZ) / LOG_STEP;

/** Whisper's filterbank: `count` triangles from 0 Hz to half the rate, Slaney scale and area normalisation. */
function melFilterbank(count: number, fftLength: number, sampleRate: number): MelFilter[] {
  const topMel = melOf(sampleRate / 2);
  const edges = Array.from({ length: count + 2 }, (_, i) => hzOf((topMel * i) / (count + 1)));
  return Array.from({ length: count }, (_, i) => {
    const [low, centre, high] = [edges[i]!, edges[i + 1]!, edges[i + 2]!];
    const first = Math.ceil((low * fftLength) / sampleRate);
    const last = Math.min(fftLength / 2, Math.floor((high * fftLength) / sampleRate));
    const weights = Float64Array.from({ length: Math.max(0, last - first + 1) }, (_unused, k) => {
      const hz = ((first + k) * sampleRate) / fftLength;
      const slope = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      return (Math.max(0, slope) * 2) / (high - low);
    });
    return { first, weights };
  });
}

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
 * Whisper's features: 25 ms Hann frames every 10 ms, centred, reflected at the start, silence after the end; power
 * spectrum, Slaney mels, log10. Answers false when cancelled. Results go to `values`, which may be shared memory.
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
 * One encoder window into `into` ([mels][windowFrames]), normalised by its own loudest value as the feature extractor
 * of the public models does. What lies behind the audio's end is silence.
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
