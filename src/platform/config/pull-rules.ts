import { type Settings } from './settings.js';

/** What is particular to a worker that pulls, besides where the shared queue is. Milliseconds. */
export interface PullRules {
  /** `MAX_BATCH_SIZE`: members of one group, and of one engine call, at most; the engine may take fewer. */
  readonly maxBatchSize: number;
  /** `BATCH_TIMEOUT`, there in seconds. */
  readonly batchTimeoutMs: number;
  /** `MAX_CONCURRENCY`: engine calls at a time; the engine may take fewer. */
  readonly maxConcurrency: number;
  /** `QUEUE_BRPOP_TIMEOUT`, there in seconds. */
  readonly blockMs: number;
  readonly policy: Settings['batching']['policy'];
  readonly quietGapMs: number;
  readonly callbacks: {
    readonly allowHosts: string;
    /** Folder of the files that `callback.secretName` names. */
    readonly secretsDir: string;
    readonly attempts: number;
    /** First pause between two attempts; doubles. */
    readonly backoffMs: number;
  };
}

/** The one place where the settings become the rules of a pull worker. */
export const pullRules = ({ pull, batching }: Settings): PullRules => ({
  maxBatchSize: pull.maxBatchSize,
  batchTimeoutMs: pull.batchTimeoutMs,
  maxConcurrency: pull.maxConcurrency,
  blockMs: pull.blockMs,
  policy: batching.policy,
  quietGapMs: batching.quietGapMs,
  callbacks: {
    allowHosts: pull.callbackAllowHosts,
    secretsDir: pull.callbackSecretsDir,
    attempts: pull.callbackAttempts,
    backoffMs: pull.callbackBackoffMs,
  },
});
