import {
  type BatchJob,
  type JobProblem,
  type RequestCounts,
  type BatchUsage,
} from './batch-job.js';
import { type BatchStatus } from './batch-status.js';

/**
 * A job that one processor holds. Every write names the epoch: a zombie's
 * is refused (D-13).
 */
export interface LeasedJob {
  readonly job: BatchJob;
  /** Grows with every claim of this job. */
  readonly epoch: number;
}

/**
 * What a holder may write. A terminal status ends the lease and puts the webhook into the
 * outbox in the same transaction.
 */
export interface JobChange {
  readonly status?: BatchStatus;
  readonly counts?: RequestCounts;
  readonly usage?: BatchUsage;
  readonly model?: string;
  readonly problems?: readonly JobProblem[];
  readonly outputFileId?: string;
  readonly errorFileId?: string;
}

/**
 * `lost`: another processor holds the job. `cancelling`: the user cancelled before this
 * change of status.
 */
export type UpdateOutcome = 'written' | 'lost' | 'cancelling';

export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  /**
   * Id of the last entry of the page before. An id that is not there is
   * `undefined` from `list`.
   */
  readonly after?: string;
  readonly limit: number;
  readonly order?: 'asc' | 'desc';
}

export type FilePurpose =
  | 'assistants'
  | 'batch'
  | 'batch_output'
  | 'fine-tune'
  | 'vision'
  | 'user_data'
  | 'evals';

/** One row of the file table; its bytes are a blob. */
export interface StoredFile {
  /** `file-` and 32 hex digits; increases with time. */
  readonly id: string;
  readonly tenant: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly blobKey: string;
  /** SHA-256 of the bytes in hex: the ETag. */
  readonly sha256: string;
}

/** A file on its way in, part by part (OpenAI's `/v1/uploads`). */
export interface Upload {
  /** `upload_` and 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly mimeType: string;
  /** Announced size: completing demands exactly this. */
  readonly bytes: number;
  readonly status: 'pending' | 'completed' | 'cancelled' | 'expired';
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Seconds after completion at which the file goes. */
  readonly fileExpiresAfterS?: number;
  readonly fileId?: string;
}

export interface UploadPart {
  /** `part_` and 32 hex digits. */
  readonly id: string;
  readonly uploadId: string;
  readonly blobKey: string;
  readonly bytes: number;
  readonly createdAtMs: number;
}

/**
 * One webhook to send; written with the terminal status, sent until it is taken
 * or given up.
 */
export interface OutboxEntry {
  readonly id: string;
  readonly jobId: string;
  readonly type: `batch.${'completed' | 'failed' | 'expired' | 'cancelled'}`;
  readonly url: string;
  readonly attempts: number;
  readonly createdAtMs: number;
}

/**
 * Bytes by key, on a disk or in S3. Keys are `[a-z0-9-/]`, at most 200 characters. The
 * store that the settings choose is injected by this type.
 */
export abstract class BlobStore {
  /**
   * All or nothing: the key appears when the last byte is durable. Resolves with the
   * number of bytes.
   */
  abstract write(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number>;
  /** @param range inclusive byte positions. @throws BlobMissing */
  abstract read(
    key: string,
    range?: { readonly from: number; readonly to: number },
  ): AsyncIterable<Uint8Array>;
  abstract size(key: string): Promise<number | undefined>;
  /** Removing what is not there is fine. */
  abstract remove(key: string): Promise<void>;
  /** Keys under a prefix with the instant of writing, for garbage collection. */
  abstract keys(
    prefix: string,
  ): AsyncIterable<{ readonly key: string; readonly writtenAtMs: number }>;
  /**
   * Removes what writes left that began before `beforeMs` and never ended, as after a
   * kill -9. Resolves with their number.
   */
  abstract removeDrafts(beforeMs: number): Promise<number>;

  /** Several blobs as one, in order. @throws BlobMissing */
  async *readAll(keys: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const key of keys) yield* this.read(key);
  }
}
