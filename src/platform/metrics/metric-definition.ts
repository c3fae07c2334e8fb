export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, of a histogram only. */
  readonly buckets?: readonly number[];
}

/** Of histograms: seconds where the name ends with S. */
export const BUCKETS = {
  /**
   * The top ones lie beyond the default limits (120 s in the queue), or an alert could
   * compare with a value never seen.
   */
  waitS: [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
  ],
  workS: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800],
  signalS: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  /** Batches live for up to seven days; an alert on their time needs buckets beyond it. */
  jobS: [
    1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 64_800, 86_400, 172_800,
    604_800,
  ],
  /** The next three: OpenTelemetry's conventions for generative models. */
  genAiFirstS: [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ],
  genAiS: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  genAiTokens: Array.from({ length: 14 }, (_, power) => 4 ** power),
  /** Members of a group. */
  size: [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64],
} as const;

export const counter = (help: string, ...labels: string[]) =>
  ({ type: 'counter', help, labels }) as const;
export const gauge = (help: string, ...labels: string[]) =>
  ({ type: 'gauge', help, labels }) as const;
export const histogram = (buckets: readonly number[], help: string, ...labels: string[]) =>
  ({ type: 'histogram', help, labels, buckets }) as const;
