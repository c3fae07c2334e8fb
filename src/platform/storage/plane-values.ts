import { randomUUID } from 'node:crypto';
import { MAX_INLINE_BYTES, PLANE_BLOBS } from '../../contracts/queue-jobs/queue-keys.js';
import { type StoredJobValue, type JobValue } from '../../contracts/queue-jobs/job-result.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';

/** The value as Redis may have it: itself, or a reference to a blob when it is large. */
export async function storeLarge(blobs: BlobStore, value: JobValue): Promise<JobValue | StoredJobValue> {
  const json = Buffer.from(JSON.stringify(value));
  if (json.byteLength <= MAX_INLINE_BYTES) return value;
  const blob = `${PLANE_BLOBS}results/${randomUUID()}`;
  return { kind: 'stored', blob, bytes: await blobs.write(blob, once(json)) };
}

/** @throws BlobMissing when it was removed */
export async function loadValue(blobs: BlobStore, value: JobValue | StoredJobValue): Promise<JobValue> {
  if (value.kind !== 'stored') return value;
  return JSON.parse((await readWhole(blobs, value.blob)).toString()) as JobValue;
}

/** @throws BlobMissing */
export async function readWhole(blobs: BlobStore, key: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of blobs.read(key)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The blob that holds it, where one does. */
export const blobOf = (value: JobValue | StoredJobValue): string | undefined =>
  value.kind === 'stored' || value.kind === 'speech' ? value.blob : undefined;

// eslint-disable-next-line @typescript-eslint/require-await -- blobs are written from streams
async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
