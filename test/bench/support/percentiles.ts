/** Milliseconds, unless the series says otherwise. */
export interface Distribution {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Nearest-rank percentiles; all zero for an empty series. */
export function distribution(series: readonly number[]): Distribution {
  const sorted = Float64Array.from(series).sort();
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    count: sorted.length,
    mean: rounded(sorted.length === 0 ? 0 : sum / sorted.length),
    p50: rounded(rank(sorted, 0.5)),
    p95: rounded(rank(sorted, 0.95)),
    p99: rounded(rank(sorted, 0.99)),
    max: rounded(sorted.at(-1) ?? 0),
  };
}

export function median(series: readonly number[]): number {
  return distribution(series).p50;
}

/** Linear between neighbours: few values, as of the rounds of a bench. */
export function quartiles(series: readonly number[]): {
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
} {
  const sorted = [...series].sort((a, b) => a - b);
  const at = (quantile: number): number => {
    const place = quantile * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? 0;
    return rounded(below + ((sorted[Math.ceil(place)] ?? 0) - below) * (place % 1));
  };
  return { p25: at(0.25), p50: at(0.5), p75: at(0.75) };
}

/**
 * Three decimals: microseconds in a millisecond series, and short enough to read in
 * a result line.
 */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function rank(sorted: Float64Array, quantile: number): number {
  return sorted[Math.min(Math.floor(sorted.length * quantile), sorted.length - 1)] ?? 0;
}
