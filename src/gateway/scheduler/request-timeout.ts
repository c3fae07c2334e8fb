import { Settings } from '../../platform/config/settings.js';

/**
 * Milliseconds that a worker may work on a request: max(30 s, 2 x audio duration) by
 * default (D-07). An unknown duration (0, NaN, not finite) gets the lower bound.
 */
export function inferenceTimeoutMs(
  audioDurationS: number,
  { timeoutMinMs, timeoutFactor }: Pick<Settings['inference'], 'timeoutMinMs' | 'timeoutFactor'>,
): number {
  const scaledMs = audioDurationS * 1000 * timeoutFactor;
  return Number.isFinite(scaledMs) ? Math.max(timeoutMinMs, scaledMs) : timeoutMinMs;
}
