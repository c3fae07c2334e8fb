import { Inject, Injectable } from '@nestjs/common';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { linesOf } from '../../../platform/storage/line-splitter.js';
import { API_BLOBS } from '../shared/counted-blobs.js';
import { FileWriter } from '../files/file-writer.js';
import { FileStore } from '../../../platform/database/file-store.js';

const UNBOUNDED = { maxBytes: Infinity, maxLines: Infinity };

/**
 * Creates an input file of the failed lines of a batch: two passes, with only the
 * ids in memory.
 */
@Injectable()
export class FailedLines {
  constructor(
    private readonly files: FileStore,
    @Inject(API_BLOBS) private readonly blobs: BlobStore,
    private readonly writer: FileWriter,
  ) {}

  /**
   * @throws DomainError `nothing_to_retry`, or `file_not_found` if a file of the batch
   *   no longer exists.
   */
  async asFile(job: BatchJob): Promise<StoredFile> {
    if (job.errorFileId === undefined) throw nothing(job.id);
    const failed = await this.#idsIn(await this.#file(job, job.errorFileId));
    if (failed.size === 0) throw nothing(job.id);
    const input = await this.#file(job, job.inputFileId);
    const written = await this.writer
      .write(job.tenant, this.#linesOf(input, failed), UNBOUNDED)
      .catch(ofEmpty(job.id));
    return this.writer.publish(job.tenant, written, {
      purpose: 'batch',
      filename: `retry-of-${job.id}.jsonl`,
    });
  }

  async #idsIn({ blobKey }: StoredFile): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for await (const { bytes } of linesOf(this.blobs.read(blobKey))) {
      const id = customIdOf(bytes);
      if (id !== undefined) ids.add(id);
    }
    return ids;
  }

  /** The lines' bytes, unchanged: big numbers keep their digits. */
  async *#linesOf(
    { blobKey }: StoredFile,
    ids: ReadonlySet<string>,
  ): AsyncGenerator<Uint8Array> {
    for await (const { bytes } of linesOf(this.blobs.read(blobKey))) {
      const id = customIdOf(bytes);
      if (bytes && id !== undefined && ids.has(id)) yield Buffer.concat([bytes, NEWLINE]);
    }
  }

  async #file({ tenant, id }: BatchJob, fileId: string): Promise<StoredFile> {
    const file = await this.files.find(tenant, fileId);
    if (file) return file;
    throw new DomainError(
      'file_not_found',
      `The file \`${fileId}\` of ${id} no longer exists.`,
      { param: 'id' },
    );
  }
}

const NEWLINE = Buffer.from('\n');

function customIdOf(line: Buffer | undefined): string | undefined {
  try {
    const { custom_id: id } = JSON.parse(line?.toString() ?? '') as {
      custom_id?: unknown;
    };
    return typeof id === 'string' ? id : undefined;
  } catch {
    // A line that is not valid JSON has no id.
    return undefined;
  }
}

const nothing = (id: string): DomainError =>
  new DomainError('nothing_to_retry', `\`${id}\` has no failed lines.`, { param: 'id' });

const ofEmpty =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof DomainError && error.code === 'empty_file'
      ? nothing(id)
      : error;
  };
