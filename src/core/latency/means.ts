const MEMORY = 0.98;

/** Mean and variance that forget: the last 50 or so values count. */
export class FadingMean {
  #mean = 0;
  #variance = 0;
  #count = 0;

  /** 0 before the first value. */
  get mean(): number {
    return this.#mean;
  }

  get variance(): number {
    return this.#variance;
  }

  /** The mean; undefined before the first value. */
  get value(): number | undefined {
    return this.#count === 0 ? undefined : this.#mean;
  }

  /** @param count values that it stands for. @returns its weight */
  add(value: number, count = 1): number {
    this.#count = this.#count * MEMORY + count;
    const weight = count / this.#count;
    const off = value - this.#mean;
    this.#mean += weight * off;
    this.#variance = (1 - weight) * (this.#variance + weight * off * off);
    return weight;
  }
}

/**
 * An exponentially weighted mean, one value further.
 * @param mean of the values before; undefined: there are none
 * @param weight of the latest value, above 0 and at most 1
 */
export const blended = (mean: number | undefined, latest: number, weight: number): number =>
  mean === undefined ? latest : mean + weight * (latest - mean);

/** Time as a linear function of an amount of work: a least-squares fit that forgets. */
export class TimeLine {
  readonly #work = new FadingMean();
  #meanMs = 0;
  #covariance = 0;

  /** Weighted like `FadingMean.mean`. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** @param count as for `FadingMean.add` */
  add(work: number, ms: number, count?: number): void {
    const [workOff, msOff] = [work - this.#work.mean, ms - this.#meanMs];
    const weight = this.#work.add(work, count);
    this.#meanMs += weight * msOff;
    this.#covariance = (1 - weight) * (this.#covariance + weight * workOff * msOff);
  }

  /** @param leastVariance of the work; below it the time is the same for any. */
  at(work: number, leastVariance = 0): number {
    const { mean, variance } = this.#work;
    if (variance < leastVariance) return this.#meanMs;
    // Neither a negative slope nor a negative time without work. Without any spread:
    // proportional.
    const steepest = this.#meanMs / mean;
    const slope =
      variance > 0 ? Math.min(steepest, Math.max(0, this.#covariance / variance)) : steepest;
    return this.#meanMs + slope * (work - mean);
  }
}
