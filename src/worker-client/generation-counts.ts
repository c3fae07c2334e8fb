import { type GenerationActivity } from '@switchyard/worker-protocol/health.codec.js';

const TOTALS = [
  'steps',
  'decodeCalls',
  'preemptions',
  'prefixHitTokens',
  'strandedTokens',
  'losses',
] as const;

/** Totals of continuous batching. */
export type GenerationCounts = Readonly<Pick<GenerationActivity, (typeof TOTALS)[number]>>;

/**
 * The increments from one report of a process to its next; never negative.
 * @param before undefined: it is the first one
 */
export const countsSince = (
  before: GenerationCounts | undefined,
  now: GenerationCounts,
): GenerationCounts =>
  Object.fromEntries(
    TOTALS.map(name => [name, Math.max(0, now[name] - (before?.[name] ?? 0))]),
  ) as GenerationCounts;
