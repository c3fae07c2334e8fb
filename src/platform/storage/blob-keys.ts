import { hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { MAX_INLINE_BYTES, QUEUE_BLOBS } from '@switchyard/shared-queue/keys.js';
import type { JobCompleted, JobValue } from '@switchyard/shared-queue/result.codec.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { bornAtMs } from '../clock/time-ordered-id.js';

/** The value as Redis may have it: itself, or a reference to a blob when it is large. */
export async function storeLarge(
  blobs: BlobStore,
  value: JobValue,
): Promise<JobCompleted['value']> {
  const json = Buffer.from(writeJson(value));
  if (json.byteLength <= MAX_INLINE_BYTES) return value;
  const blob = `${QUEUE_BLOBS}results/${randomUUID()}`;
  return { kind: 'stored', blob, bytes: await blobs.write(blob, Readable.from([json])) };
}

/** @throws BlobMissing when it was removed */
export async function loadValue(blobs: BlobStore, value: JobCompleted['value']): Promise<JobValue> {
  if (value.kind !== 'stored') return value;
  return parseBoundedJson(
    (await readWhole(blobs, value.blob)).toString(),
    STORED_BOUNDS,
  ) as JobValue;
}

/** @throws BlobMissing */
export const readWhole = async (blobs: BlobStore, key: string): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(blobs.read(key)));

/** The blob that holds it, where one does. */
export const blobOf = (value: JobCompleted['value']): string | undefined =>
  value.kind === 'stored' || value.kind === 'speech' ? value.blob : undefined;

/** One kind of blobs: what all their keys begin with, and no others. */
interface BlobKind {
  readonly prefix: string;
  /** What a row, or a batch, is looked up by to know whether the blob is still needed. */
  readonly idOf: (key: string) => string;
}

/** Bodies and answers of stored requests. */
export const STORED_REQUEST_BLOBS: BlobKind = {
  prefix: 'kept/',
  idOf: key => key.slice(0, key.lastIndexOf('/')),
};

/**
 * Where the body and the answer of a request will lie, as its row names it: two
 * keys below this.
 */
export const newStoredBlob = (): string => `${STORED_REQUEST_BLOBS.prefix}${randomUUID()}`;

/** Copied result logs of batches. */
export const JOB_LOG_BLOBS: BlobKind = {
  prefix: 'jobs/',
  idOf: key => key.split('/', 2)[1]!,
};

/** Where the copies of a batch's result log lie, for processors that share no disk. */
export const jobLogFolder = (jobId: string): string => `${JOB_LOG_BLOBS.prefix}${jobId}/log/`;

export const FILE_BLOBS: BlobKind = { prefix: 'files/', idOf: key => key };

/**
 * Where the bytes of a file lie. Tenants are hashed: their names may hold anything, and a
 * bucket's listing must not show them.
 */
export function fileBlobKey(tenant: string, fileId: string): string {
  const owner = hash('sha256', tenant).slice(0, 16);
  return `${FILE_BLOBS.prefix}${owner}/${fileId}`;
}

/** A day: longer than the write of any file that is allowed takes twice over. */
export const ORPHAN_AGE_MS = 86_400_000;

/**
 * Bytes whose name is `ORPHAN_AGE_MS` old and stands in no row are garbage. A row may name
 * them during the first half of that time only, so that no row comes while they are being
 * removed, however long a write, a pause or an outage was.
 */
export const mayBeNamed = (fileId: string): boolean =>
  Date.now() - (bornAtMs(fileId) ?? Infinity) <= ORPHAN_AGE_MS / 2;
