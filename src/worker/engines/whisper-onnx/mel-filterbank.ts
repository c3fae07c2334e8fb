/** One triangular filter: weights of consecutive bins from `first`. */
export interface MelFilter {
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
export function melFilterbank(count: number, fftLength: number, sampleRate: number): MelFilter[] {
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
