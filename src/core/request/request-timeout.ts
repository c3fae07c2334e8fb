interface InferenceTimeoutPolicy {
  /** Lower bound in milliseconds (`inference.timeout_min_ms`, 30000). */
  readonly minMs: number;
  /** Multiple of the audio's duration (`inference.timeout_factor`, 2). */
  readonly factor: number;
}

/**
 * Milliseconds that a worker may work on a request: max(30 s, 2 x audio duration) by
 * default (D-07). An unknown duration (0, NaN, not finite) gets the lower bound.
 */
export function inferenceTimeoutMs(
  audioDurationS: number,
  policy: InferenceTimeoutPolicy,
): number {
  const scaledMs = audioDurationS * 1000 * policy.factor;
  return Number.isFinite(scaledMs) ? Math.max(policy.minMs, scaledMs) : policy.minMs;
}
