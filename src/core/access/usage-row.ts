/** Sums of settled requests. Whole numbers. */
export interface UsageSums {
  readonly requests: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly audioMs: number;
  readonly characters: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Time at a worker's device: its share of each engine call. */
  readonly deviceMs: number;
}

export const USAGE_SUMS = [
  'requests',
  'completed',
  'failed',
  'cancelled',
  'audioMs',
  'characters',
  'inputTokens',
  'outputTokens',
  'deviceMs',
] as const satisfies readonly (keyof UsageSums)[];

/** What usage is summed by. */
export interface UsageGroup {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly tenant: string;
  /** Id of the key; '' without keys. */
  readonly key: string;
  /** Canonical id. */
  readonly model: string;
}

export const USAGE_GROUPS = [
  'day',
  'tenant',
  'key',
  'model',
] as const satisfies readonly (keyof UsageGroup)[];

export type UsageRow = UsageGroup & UsageSums;

/** One text for each group. */
export const usageGroupName = (group: UsageGroup): string =>
  JSON.stringify(USAGE_GROUPS.map(name => group[name]));

export interface UsageQuery {
  /** First and last day, both included. */
  readonly from: string;
  readonly to: string;
  readonly groupBy: readonly (keyof UsageGroup)[];
  readonly tenant?: string;
  readonly limit: number;
}
