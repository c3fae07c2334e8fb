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
