import { CodedError } from '@switchyard/engine-api/coded-error.js';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { z } from 'zod';

/**
 * What a worker completes a job with (`moveToCompleted(result, token)`; the lock token
 * rejects late answers of a worker that lost the job). Failures complete the job as
 * successes do, so both reach the waiting gateway the same way. BullMQ's own `failed` is
 * used for jobs whose workers died more often than allowed (`worker_lost`).
 */
export type QueueJobResult<Value = JobValue | StoredJobValue> =
  | JobCompleted<Value>
  | (ResultFields & { readonly outcome: 'failed'; readonly error: JobError })
  /**
   * It was stopped by its caller, an operator or the inference deadline. Its caller
   * is settled already.
   */
  | (ResultFields & { readonly outcome: 'cancelled' });

interface ResultFields {
  readonly v: 1;
  readonly phases: {
    readonly workerId: string;
    /** Epoch milliseconds of Redis at which the worker took the job. */
    readonly takenMs: number;
    /** Milliseconds from then until its group was closed: the wait for further requests. */
    readonly batchWaitMs: number;
    /** Milliseconds from `takenMs` to the result. */
    readonly totalMs: number;
    /** Workers that had it, this one included. */
    readonly attempts: number;
  };
}

/** @typeParam Value `JobValue` once it is loaded from wherever it was stored */
export interface JobCompleted<Value = JobValue | StoredJobValue> extends ResultFields {
  readonly outcome: 'completed';
  readonly value: Value;
  readonly execution: JobExecution;
}

/** How a worker computed it; numbers as in `Execution` of the proto. */
interface JobExecution {
  readonly prepMs: number;
  readonly readyWaitMs: number;
  readonly deviceMs: number;
  readonly batchSize: number;
  readonly batchId: string;
  /** Its part of the device's time; absent: `deviceMs` divided by `batchSize`. */
  readonly shareMs?: number;
}

interface JobError {
  /** An error code that callers receive (`errors.md`). */
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly foreignCode?: string;
  readonly retryAfterMs?: number;
}

export type JobValue =
  | { readonly kind: 'transcript'; readonly transcript: JobTranscript }
  | {
      readonly kind: 'speech';
      /** In the blob store until its caller has it, at most until results expire (`redis.result_ttl_ms`). */
      readonly blob: string;
      readonly contentType: string;
      readonly sampleRate: number;
      readonly durationS: number;
      /** Seconds for which its listener waited in the middle of it; absent: not known. */
      readonly lateS?: number;
    }
  | {
      readonly kind: 'embeddings';
      /** 32-bit floats, little endian, one vector after another; base64. */
      readonly vectors: string;
      readonly dimensions: number;
      readonly usage?: TokenUsage;
    };

/**
 * A value larger than `MAX_INLINE_BYTES`: its JSON is in the blob store, and is removed
 * once its caller has the answer.
 */
interface StoredJobValue {
  readonly kind: 'stored';
  /** Key in the blob store that gateways and workers share. */
  readonly blob: string;
  readonly bytes: number;
}

/** A `Transcript` as JSON: the bytes of tokens are lists of numbers. */
interface JobTranscript extends Omit<Transcript, 'logprobs'> {
  readonly logprobs?: readonly {
    readonly token: string;
    readonly logprob: number;
    readonly bytes: readonly number[];
  }[];
}

export const encodeJobTranscript = ({ logprobs, ...transcript }: Transcript): JobTranscript => ({
  ...transcript,
  logprobs: logprobs?.map(({ bytes, ...rest }) => ({ ...rest, bytes: [...bytes] })),
});

export const decodeJobTranscript = ({ logprobs, ...transcript }: JobTranscript): Transcript => ({
  ...transcript,
  logprobs: logprobs?.map(({ bytes, ...rest }) => ({
    ...rest,
    bytes: Uint8Array.from(bytes),
  })),
});

/**
 * Only a `CodedError` has a message for callers; anything else is a defect of the
 * worker, reported as `engine_failed`.
 */
export function encodeJobError(error: unknown): JobError {
  if (!(error instanceof CodedError))
    return { code: 'engine_failed', message: 'The engine failed on this input.' };
  const { code, message, param, foreignCode, retryAfterMs } = error as CodedError<string>;
  return { code, message, param, foreignCode, retryAfterMs };
}

/** @param isKnown whether callers may receive a code; a newer worker may have others */
export const decodeJobError = <Code extends string>(
  { code, message, param, foreignCode, retryAfterMs }: JobError,
  isKnown: (code: string) => code is Code,
): CodedError<Code | 'engine_failed'> =>
  new CodedError(isKnown(code) ? code : 'engine_failed', message, {
    param,
    foreignCode,
    retryAfterMs,
  });

/**
 * Another gateway or a worker wrote it: what it says of time and of its value
 * is not checked.
 */
const PHASES = { v: z.literal(1), phases: z.looseObject({}) };
const RESULT = z.discriminatedUnion('outcome', [
  z.looseObject({
    ...PHASES,
    outcome: z.literal('completed'),
    value: z.looseObject({ kind: z.string() }),
  }),
  z.looseObject({ ...PHASES, outcome: z.literal(['failed', 'cancelled']) }),
]);

/** Undefined: not a result of version 1; a newer worker or another client wrote it. */
export const readJobResult = (value: unknown): QueueJobResult | undefined =>
  RESULT.safeParse(value).data as QueueJobResult | undefined;
