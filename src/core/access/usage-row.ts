import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
/** Sums of settled requests. Whole numbers. */
export const USAGE_SUMS = [
  'requests',
  'completed',
  'failed',
  'cancelled',
  'audioMs',
  'characters',
  'inputTokens',
  'outputTokens',
  // Time at a worker's device: its share of each engine call.
  'deviceMs',
] as const;

export type UsageSums = Readonly<Record<(typeof USAGE_SUMS)[number], number>>;

/** What usage is summed by. */
export const USAGE_GROUPS = [
  // `YYYY-MM-DD`, UTC.
  'day',
  'tenant',
  // Id of the key; '' without keys.
  'key',
  // Canonical id.
  'model',
] as const;

export type UsageGroup = Readonly<Record<(typeof USAGE_GROUPS)[number], string>>;

export type UsageRow = UsageGroup & UsageSums;

/** One text for each group. */
export const usageGroupName = (group: UsageGroup): string =>
  writeJson(USAGE_GROUPS.map(name => group[name]));
