import { type Fields, fieldsIn } from '@switchyard/engine-api/is-object.js';
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
  const failed = await failedIn(blobs.read((await fileOf(job, job.errorFileId, files)).blobKey));
  if (failed.ids.size + failed.numbers.size === 0) throw nothing(job.id);
  const { blobKey } = await fileOf(job, job.inputFileId, files);
  const written = await writer
    .write(job.tenant, linesAmong(blobs.read(blobKey), failed), UNBOUNDED)
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

/** Lines of the input: by number if they never ran, else by id, which the first line of it holds. */
interface FailedLines {
  readonly numbers: ReadonlySet<number>;
  readonly ids: Set<string>;
}

async function failedIn(errors: AsyncIterable<Uint8Array>): Promise<FailedLines> {
  const numbers = new Set<number>();
  const ids = new Set<string>();
  for await (const { bytes } of linesOf(errors)) {
    const { custom_id: id, error } = fieldsOf(bytes);
    if (typeof id !== 'string') continue;
    const { line } = fieldsIn(error);
    if (typeof line === 'number') numbers.add(line);
    else ids.add(id);
  }
  return { numbers, ids };
}

/** The lines' bytes, unchanged: big numbers keep their digits. */
async function* linesAmong(
  input: AsyncIterable<Uint8Array>,
  { numbers, ids }: FailedLines,
): AsyncGenerator<Uint8Array> {
  let number = 0;
  for await (const { bytes } of linesOf(input)) {
    number += 1;
    const { custom_id: id } = fieldsOf(bytes);
    const isFirst = typeof id === 'string' && ids.delete(id);
    if (bytes && (isFirst || numbers.has(number))) yield Buffer.concat([bytes, NEWLINE]);
  }
}

const NEWLINE = Buffer.from('\n');

/** A line that is not valid JSON has none. */
const fieldsOf = (line: Buffer | undefined): Fields => objectIn(line?.toString() ?? '') ?? {};

const nothing = (id: string): DomainError =>
  new DomainError('nothing_to_retry', `\`${id}\` has no failed lines.`, { param: 'id' });

const ofEmpty =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof DomainError && error.code === 'empty_file' ? nothing(id) : error;
  };
