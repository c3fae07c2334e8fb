import { objectIn } from '@switchyard/engine-api/json-in.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { type FileStore } from '../../../platform/database/file-store.js';
import { linesOf } from '../../../platform/storage/line-splitter.js';
import { type FileWriter } from './file-writer.js';

const UNBOUNDED = { maxBytes: Infinity, maxLines: Infinity };

/**
 * Creates an input file of the failed lines of a batch: two passes, with only the
 * ids in memory.
 * @throws DomainError `nothing_to_retry`, or `file_not_found` if a file of the batch
 *   no longer exists.
 */
export async function fileOfFailedLines(
  job: BatchJob,
  files: FileStore,
  blobs: BlobStore,
  writer: FileWriter,
): Promise<StoredFile> {
  if (job.errorFileId === undefined) throw nothing(job.id);
  const failed = await idsIn(blobs.read((await fileOf(job, job.errorFileId, files)).blobKey));
  if (failed.size === 0) throw nothing(job.id);
  const { blobKey } = await fileOf(job, job.inputFileId, files);
  const written = await writer
    .write(job.tenant, linesOfIds(blobs.read(blobKey), failed), UNBOUNDED)
    .catch(ofEmpty(job.id));
  return writer.publish(job.tenant, written, {
    purpose: 'batch',
    filename: `retry-of-${job.id}.jsonl`,
  });
}

async function fileOf(
  { tenant, id }: BatchJob,
  fileId: string,
  files: FileStore,
): Promise<StoredFile> {
  const file = await files.find(tenant, fileId);
  if (file) return file;
  throw new DomainError('file_not_found', `The file \`${fileId}\` of ${id} no longer exists.`, {
    param: 'id',
  });
}

async function idsIn(errors: AsyncIterable<Uint8Array>): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { bytes } of linesOf(errors)) {
    const id = customIdOf(bytes);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

/** The lines' bytes, unchanged: big numbers keep their digits. */
async function* linesOfIds(
  input: AsyncIterable<Uint8Array>,
  ids: ReadonlySet<string>,
): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of linesOf(input)) {
    const id = customIdOf(bytes);
    if (bytes && id !== undefined && ids.has(id)) yield Buffer.concat([bytes, NEWLINE]);
  }
}

const NEWLINE = Buffer.from('\n');

function customIdOf(line: Buffer | undefined): string | undefined {
  // A line that is not valid JSON has no id.
  const id = objectIn(line?.toString() ?? '')?.custom_id;
  return typeof id === 'string' ? id : undefined;
}

const nothing = (id: string): DomainError =>
  new DomainError('nothing_to_retry', `\`${id}\` has no failed lines.`, { param: 'id' });

const ofEmpty =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof DomainError && error.code === 'empty_file' ? nothing(id) : error;
  };
