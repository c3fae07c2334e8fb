import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
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

/** A worker answered a request. */
export interface ExecutedCall {
  readonly model: string;
  readonly execution: CallExecution;
}

/** What no view shows. */
export type PoolActivity =
  | { readonly type: 'restarted'; readonly model: string; readonly worker: string }
  | {
      readonly type: 'exited';
      readonly model: string;
      readonly worker: string;
      readonly pid: number | undefined;
    }
  | { readonly type: 'load_failed'; readonly model: string }
  | {
      readonly type: 'generated';
      readonly model: string;
      readonly worker: string;
      /** Since the last such event of this worker. */
      readonly counts: GenerationCounts;
    };
