import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';
import { Settings } from '../../../platform/config/settings.js';
import { FileStore } from '../../../platform/database/file-store.js';
import { storageUnavailable } from '../../../platform/http/passing-errors.js';
import { fileBlobKey, mayBeNamed } from '../../../platform/storage/blob-keys.js';
import { API_BLOBS } from '../shared/counted-blobs.js';
import { type FileLimits, MeasuredBytes } from './measured-bytes.js';

/** @param maxFileBytes limit of a file of any other purpose */
export function limitsOf(purpose: unknown, { batch }: Settings, maxFileBytes: number): FileLimits {
  if (purpose !== 'batch') return { maxBytes: maxFileBytes, maxLines: Infinity };
  return {
    maxBytes: Math.min(batch.maxFileBytes, maxFileBytes),
    maxLines: batch.maxLines,
  };
}

/** Bytes that are durable, but have no row in the file table yet. */
export interface WrittenBytes {
  readonly id: string;
  readonly blobKey: string;
  readonly measured: MeasuredBytes;
}

/**
 * Creates files in two steps: bytes, then row. A crash in between leaves unreferenced
 * bytes for garbage collection.
 */
@Injectable()
export class FileWriter {
  constructor(
    @Inject(API_BLOBS) private readonly blobs: BlobStore,
    private readonly files: FileStore,
    private readonly settings: Settings,
  ) {}

  /**
   * @throws DomainError `file_too_large`, `too_many_lines`, `empty_file`, `storage_full`,
   *   `storage_quota_exceeded`;
   * then the bytes are discarded.
   * @param joined upload whose parts they replace
   */
  async write(
    tenant: string,
    source: AsyncIterable<Uint8Array>,
    limits: FileLimits,
    joined?: string,
  ): Promise<WrittenBytes> {
    const id = timeOrderedId('file-', Date.now());
    const measured = new MeasuredBytes({
      ...limits,
      quotaLeftBytes: await this.#quotaLeft(tenant, joined),
    });
    const written = { id, blobKey: fileBlobKey(tenant, id), measured };
    await this.blobs.write(written.blobKey, written.measured.of(source));
    if (written.measured.size > 0) return written;
    await this.forget(written);
    throw new DomainError('empty_file', 'The file has 0 bytes.', { param: 'file' });
  }

  async publish(
    tenant: string,
    { id, blobKey, measured }: WrittenBytes,
    {
      purpose,
      filename,
      expiresAfterS,
    }: Pick<StoredFile, 'purpose' | 'filename'> & {
      /** Seconds after its creation; absent: the default of its purpose. */
      readonly expiresAfterS?: number | undefined;
    },
  ): Promise<StoredFile> {
    this.assertFresh(id);
    const createdAtMs = await this.files.clockMs();
    // 0 = unlimited.
    const defaultMs = purpose === 'batch' ? this.settings.files.batchExpiryMs : 0;
    const lifeMs = expiresAfterS === undefined ? defaultMs : expiresAfterS * 1000;
    const file: StoredFile = {
      id,
      tenant,
      purpose,
      filename,
      createdAtMs,
      blobKey,
      bytes: measured.size,
      sha256: measured.sha256,
      expiresAtMs: lifeMs > 0 ? createdAtMs + lifeMs : undefined,
    };
    await this.files.create(file);
    return file;
  }

  /**
   * Call before a row references the bytes. @throws DomainError if garbage collection may
   * already remove them
   */
  assertFresh(id: string): void {
    if (mayBeNamed(id)) return;
    throw storageUnavailable('Storing the bytes took too long.');
  }

  /** Only stored files count: concurrent uploads can exceed the quota together. */
  async #quotaLeft(tenant: string, joined: string | undefined): Promise<number> {
    const quota = this.settings.files.tenantQuotaBytes;
    if (quota === 0) return Infinity;
    return Math.max(0, quota - (await this.files.bytesOf(tenant, joined)));
  }

  /** Never rejects: garbage collection removes what stays. */
  async forget({ blobKey }: Pick<WrittenBytes, 'blobKey'>): Promise<void> {
    await this.blobs.remove(blobKey).catch(() => undefined);
  }
}
