import { type KeyTerms } from '../access/key-terms.js';
import { type BatchStatus } from './batch-status.js';

/** Where lines of a batch file may go. */
export const BATCH_ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/speech',
] as const;

/**
 * One row of the job table, which is the batch queue as well (D-13). Instants
 * are Unix milliseconds.
 */
export interface BatchJob {
  /**
   * `batch_` and 32 hex digits; increases with time, so that listing by id is
   * listing by age.
   */
  readonly id: string;
  readonly tenant: string;
  /** Where its lines go. */
  readonly endpoint: (typeof BATCH_ENDPOINTS)[number];
  readonly inputFileId: string;
  /** As the client wrote it: "24h", "30m". */
  readonly completionWindow: string;
  readonly status: BatchStatus;
  readonly createdAtMs: number;
  /** The deadline: nothing is dispatched after it (D-15). */
  readonly expiresAtMs: number;
  /** When each later status was reached. */
  readonly reachedAtMs: Readonly<Partial<Record<Exclude<BatchStatus, 'validating'>, number>>>;
  readonly counts: RequestCounts;
  readonly usage?: BatchUsage;
  /** The model of all lines, when they name one only. */
  readonly model?: string;
  /** Why the job failed (D-17), at most 100. */
  readonly problems: readonly JobProblem[];
  readonly outputFileId?: string;
  readonly errorFileId?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Seconds that the result files are kept; absent: 30 days. */
  readonly outputExpiresAfterS?: number;
  /** Set by `retry-failed`: the batch whose failed lines these are. */
  readonly retryOf?: string;
  /**
   * Where its end is told. The secret that signs it is configuration, never part of the
   * job.
   */
  readonly webhook?: { readonly url: string };
  /**
   * W3C Trace Context of the request that made it: the processor's trace continues it.
   */
  readonly traceparent?: string;
  /** Of the key that made it: they hold for its lines. Absent: no keys are asked for. */
  readonly terms?: KeyTerms;
}

export const isSpeech = ({ endpoint }: BatchJob): boolean => endpoint === '/v1/audio/speech';

export interface RequestCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

export interface BatchUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** One entry of `errors.data`. */
export interface JobProblem {
  readonly code: string;
  readonly message: string;
  /** Field of the line; null when the line or the file as a whole is wrong. */
  readonly param: string | null;
  /** From 1; null for the file as a whole. */
  readonly line: number | null;
}
