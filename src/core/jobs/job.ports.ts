import {
  type BatchJob,
  type JobProblem,
  type RequestCounts,
  type BatchUsage,
} from './batch-job.js';
import { type BatchStatus } from './batch-status.js';
import { type TenantShare } from './tenant-share.js';

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

/** The job table. All instants are Unix milliseconds and passed in. */
export interface JobStore {
  /**
   * With an idempotency key seen before (same tenant): that job, and `created: false`.
   */
  create(
    job: BatchJob,
    idempotencyKey?: string,
  ): Promise<{ readonly job: BatchJob; readonly created: boolean }>;
  find(tenant: string, id: string): Promise<BatchJob | undefined>;
  /**
   * Newest first unless told otherwise; undefined when `after` is no job of the tenant.
   */
  list(tenant: string, page: PageRequest): Promise<Page<BatchJob> | undefined>;
  /**
   * Sets `cancelling`, or says that the job is past it; undefined: no such job. Never
   * needs the lease.
   */
  requestCancel(
    tenant: string,
    id: string,
    nowMs: number,
  ): Promise<{ job: BatchJob; accepted: boolean } | undefined>;
  /** Only ended jobs; the files stay. */
  remove(tenant: string, id: string): Promise<'removed' | 'running' | 'unknown'>;
  /** Unfinished batches that read this file: it must not be deleted. */
  usersOf(fileId: string): Promise<readonly string[]>;
  /**
   * Which of these ids are batches that have not ended: what was kept for going on with
   * the others is garbage.
   */
  unfinishedAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * One atomic claim of an unfinished job that no processor holds, or whose lease
   * expired: of the tenant with the fewest held jobs, and of these the one with
   * the least slack.
   */
  claim(owner: string, nowMs: number, leaseMs: number): Promise<LeasedJob | undefined>;
  /**
   * Prolongs; also how the holder learns of a cancel. `undefined`: the lease is lost,
   * stop at once.
   */
  heartbeat(
    id: string,
    epoch: number,
    nowMs: number,
    leaseMs: number,
  ): Promise<BatchJob | undefined>;
  /**
   * Nothing is written unless it answers `written`. @throws RangeError for
   * an illegal move.
   */
  update(
    id: string,
    epoch: number,
    change: JobChange,
    nowMs: number,
  ): Promise<UpdateOutcome>;
  /** Another processor may continue at once. */
  release(id: string, epoch: number): Promise<void>;
  /** Of every tenant with unfinished jobs. */
  tenantShares(nowMs: number): Promise<readonly TenantShare[]>;
  /** For gauges: jobs by status, and the oldest unclaimed one's creation. */
  backlog(nowMs: number): Promise<{
    byStatus: Readonly<Record<BatchStatus, number>>;
    oldestWaitingMs?: number;
  }>;
}

/**
 * Who makes or removes files of a batch: nothing happens unless this epoch still
 * holds it (D-13).
 */
export interface JobHolder {
  readonly jobId: string;
  readonly epoch: number;
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

export interface FileStore {
  create(file: StoredFile): Promise<void>;
  find(tenant: string, id: string): Promise<StoredFile | undefined>;
  list(
    tenant: string,
    page: PageRequest & { readonly purpose?: FilePurpose },
  ): Promise<Page<StoredFile> | undefined>;
  /** Bytes of all files of a tenant. */
  bytesOf(tenant: string): Promise<number>;
  /**
   * Removes the row; the blob goes by garbage collection, so that a crash in between
   * leaves an orphan and never a dangling row.
   */
  remove(tenant: string, id: string): Promise<boolean>;
  /** Removes rows past their expiry that no unfinished batch uses. */
  expire(nowMs: number, limit: number): Promise<readonly StoredFile[]>;
  /**
   * A file that a batch makes. @returns false when that epoch does not hold the batch any
   * more: nothing was written
   */
  createFor(holder: JobHolder, file: StoredFile): Promise<boolean>;
  /**
   * Ids of the files that a batch made, oldest first. @param after id of the last one of
   * the page before
   */
  madeFor(
    jobId: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly string[]>;
  /**
   * Removes files that the batch made; none when that epoch does not hold the
   * batch any more.
   */
  removeFor(holder: JobHolder, ids: readonly string[]): Promise<void>;
  /** Which of these blob keys a row names. */
  referenced(blobKeys: readonly string[]): Promise<ReadonlySet<string>>;
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

export interface UploadStore {
  create(upload: Upload): Promise<void>;
  find(tenant: string, id: string): Promise<Upload | undefined>;
  /** False: the upload is no longer pending. */
  addPart(part: UploadPart): Promise<boolean>;
  parts(uploadId: string): Promise<readonly UploadPart[]>;
  /**
   * Ends a pending upload, once; the parts' rows go, their blobs by garbage collection.
   */
  end(
    id: string,
    status: 'completed' | 'cancelled' | 'expired',
    fileId?: string,
  ): Promise<boolean>;
  /** Pending uploads past their expiry. */
  expired(nowMs: number, limit: number): Promise<readonly Upload[]>;
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

export interface WebhookOutbox {
  /** Due entries, hidden from others until `hideMs` have passed. */
  claim(nowMs: number, hideMs: number, limit: number): Promise<readonly OutboxEntry[]>;
  sent(id: string): Promise<void>;
  retry(id: string, atMs: number): Promise<void>;
  giveUp(id: string): Promise<void>;
}

/** Bytes by key, on a disk or in S3. Keys are `[a-z0-9-/]`, at most 200 characters. */
export interface BlobStore {
  /**
   * All or nothing: the key appears when the last byte is durable. Resolves with the
   * number of bytes.
   */
  write(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number>;
  /** @param range inclusive byte positions. @throws BlobMissing */
  read(
    key: string,
    range?: { readonly from: number; readonly to: number },
  ): AsyncIterable<Uint8Array>;
  size(key: string): Promise<number | undefined>;
  /** Removing what is not there is fine. */
  remove(key: string): Promise<void>;
  /** Keys under a prefix with the instant of writing, for garbage collection. */
  keys(
    prefix: string,
  ): AsyncIterable<{ readonly key: string; readonly writtenAtMs: number }>;
  /**
   * Removes what writes left that began before `beforeMs` and never ended, as after a
   * kill -9. Resolves with their number.
   */
  removeDrafts(beforeMs: number): Promise<number>;
  /**
   * Several blobs as one, in order, without bringing their bytes here where
   * the store can.
   */
  join(key: string, parts: readonly string[]): Promise<number>;
}
