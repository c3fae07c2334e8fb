import { type PriorityLabel } from '../request/request-priority.js';

/**
 * What holds for all work of a key, also for work that runs later or by a token made
 * from the key.
 */
export interface KeyTerms {
  /** Id of the key that usage is counted for. */
  readonly key: string;
  /** The only models that it may use, by canonical id; absent: all. */
  readonly models?: readonly string[];
  /** Of requests that state no priority; absent: that of the model. */
  readonly defaultPriority?: PriorityLabel;
  /** Milliseconds: a longer deadline of a request counts as this (D-26); absent: any. */
  readonly maxDeadlineMs?: number;
}
