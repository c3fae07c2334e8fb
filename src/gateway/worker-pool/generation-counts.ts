import { type GenerationActivity } from '../../contracts/grpc/health.codec.js';

const TOTALS = [
  'steps',
  'decodeCalls',
  'preemptions',
  'prefixHitTokens',
  'strandedTokens',
  'losses',
] as const;

/** Totals of continuous batching. */
export type GenerationCounts = Readonly<
  Pick<GenerationActivity, (typeof TOTALS)[number]>
>;

export const NO_COUNTS = Object.fromEntries(
  TOTALS.map(name => [name, 0]),
) as GenerationCounts;

/** The increments from one report of a process to its next; never negative. */
export const countsSince = (
  before: GenerationCounts,
  now: GenerationCounts,
): GenerationCounts =>
  Object.fromEntries(
    TOTALS.map(name => [name, Math.max(0, now[name] - before[name])]),
  ) as GenerationCounts;
