const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LEAST_S = 60;
const MOST_S = 7 * 86_400;

/** Of a batch; also the longest deadline of a request. */
export const LONGEST_WINDOW_MS = MOST_S * 1000;

/** Allowed values in words, for messages. */
export const COMPLETION_WINDOWS = 'a number and s, m, h or d, from 60s to 7d, such as 30m or 24h';

/**
 * Seconds of a completion window; undefined when it is not one (24h; shorter and longer
 * ones are ours).
 */
export function windowSeconds(text: string): number | undefined {
  const match = /^(\d{1,7})([smhd])$/.exec(text);
  if (!match) return undefined;
  const seconds = Number(match[1]) * UNIT_S[match[2]!]!;
  return seconds >= LEAST_S && seconds <= MOST_S ? seconds : undefined;
}
