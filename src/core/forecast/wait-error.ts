import { type Quantiles } from './forecast-view.js';

/** Shorter waits are not forecast: no caller plans by them. */
const LEAST_MS = 200;
/**
 * Added to both sides of a ratio, so that short waits do not count by their ratio alone.
 */
const OFFSET_MS = 100;
/** Ranges of forecast waits that err alike: up to 1 s, 4 s, 16 s, and longer. */
const RANGES_MS = [1000, 4000, 16_000, Infinity];

const FIRST_MARGIN = 0.3;
/**
 * The mean error begins at the first margin, as if so many waits had been seen, and is
 * that of the last few hundred.
 */
const FIRST_COUNT = 20;
const LEAST_WEIGHT = 0.002;
const LEAST_SPREAD = 0.05;
/**
 * A p90 is at most this, or ten times its p50: under long overload misses that are known
 * late add up.
 */
const LONGEST_MS = 60_000;
const MOST_TIMES = 10;
/** The step of the first corrections, and the one that they fall to, in mean errors. */
const FIRST_STEP = 0.5;
const LEAST_STEP = 0.1;

/**
 * How far waits differ from their forecasts, per range of lengths: two quantiles of
 * log(real ÷ forecast), each moved up a little by every wait above it and down by every
 * wait below it, so that half and nine in ten stay below, however the load changes. Steps
 * are parts of the mean error over some hundred waits. Were they parts of the latest
 * errors, steps down, which come in calm times, would be the smaller ones: nine in ten
 * steps would not be nine in ten waits.
 */
export class WaitError {
  readonly #ranges = RANGES_MS.map(() => new ErrorRange());

  /** @param p90 what was said with the forecast, which this may have corrected since */
  observe(forecastMs: number, p90: number, realMs: number): void {
    if (realMs <= LEAST_MS) return;
    this.#of(forecastMs).observe(
      Math.log((realMs + OFFSET_MS) / (forecastMs + OFFSET_MS)),
      realMs > p90,
    );
  }

  /**
   * What half and nine in ten of the waits with such a forecast do not
   * exceed, in milliseconds.
   */
  quantiles(forecastMs: number): Quantiles {
    const { p50, p90 } = this.#of(forecastMs);
    const corrected = (error: number): number =>
      Math.max(0, (forecastMs + OFFSET_MS) * Math.exp(error) - OFFSET_MS);
    const half = corrected(p50);
    return {
      p50: half,
      p90: Math.min(corrected(p90), Math.max(LONGEST_MS, MOST_TIMES * half)),
    };
  }

  #of(forecastMs: number): ErrorRange {
    const at = RANGES_MS.findIndex(ms => forecastMs <= ms);
    return this.#ranges[at] ?? new ErrorRange();
  }
}

class ErrorRange {
  p50 = 0;
  /** What p90 has beyond p50. */
  #margin = FIRST_MARGIN;
  #meanError = FIRST_MARGIN;
  #count = 0;

  get p90(): number {
    return this.p50 + this.#margin;
  }

  observe(error: number, isOverP90: boolean): void {
    this.#count += 1;
    const weight = Math.max(LEAST_WEIGHT, 1 / (this.#count + FIRST_COUNT));
    this.#meanError += weight * (Math.abs(error - this.p50) - this.#meanError);
    const step =
      Math.max(LEAST_STEP, FIRST_STEP / Math.sqrt(this.#count)) *
      Math.max(LEAST_SPREAD, this.#meanError);
    this.#margin = Math.max(0, this.#margin + step * (isOverP90 ? 0.9 : -0.1));
    this.p50 += step * (error > this.p50 ? 0.5 : -0.5);
  }
}
