import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';
import { Settings } from '../../../platform/config/settings.js';
import { FileStore } from '../../../platform/database/file-store.js';
import { storageUnavailable } from '../../../platform/http/passing-errors.js';
import { fileBlobKey, mayBeNamed } from '../../../platform/storage/blob-keys.js';
import { fileTooLarge } from '../../../platform/storage/spool.js';
import { API_BLOBS } from '../shared/counted-blobs.js';

/** @param maxFileBytes limit of a file of any other purpose */
export function limitsOf(purpose: unknown, { batch }: Settings, maxFileBytes: number): FileLimits {
  if (purpose !== 'batch') return { maxBytes: maxFileBytes, maxLines: Infinity };
  return {
    maxBytes: Math.min(batch.maxFileBytes, maxFileBytes),
    maxLines: batch.maxLines,
  };
}

interface FileLimits {
  readonly maxBytes: number;
  /** Infinity = unlimited. */
  readonly maxLines: number;
  /** Bytes left of the tenant's quota; absent: no quota. */
  readonly quotaLeftBytes?: number;
}

const NEWLINE = 0x0a;

/** Counts, hashes and bounds bytes while they are written to the blob store. */
export class MeasuredBytes {
  readonly #sha256 = createHash('sha256');
  #size = 0;
  #lineBreaks = 0;
  #last = NEWLINE;

  constructor(private readonly limits: FileLimits) {}

  get size(): number {
    return this.#size;
  }

  /** A last line without a line break counts. */
  get lines(): number {
    return this.#lineBreaks + (this.#last === NEWLINE ? 0 : 1);
  }

  /**
   * @throws DomainError `file_too_large`, `too_many_lines`, `storage_quota_exceeded` at
   *   the first byte over.
   */
  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#add(chunk);
      this.assertWithin(this.limits);
      yield chunk;
    }
  }

  /** For limits that were not known during the upload. @throws as `of` */
  assertWithin({ maxBytes, maxLines, quotaLeftBytes = Infinity }: FileLimits): void {
    if (this.#size > maxBytes) throw fileTooLarge(maxBytes);
    if (this.#size > quotaLeftBytes)
      throw new DomainError(
        'storage_quota_exceeded',
        `The tenant's quota has ${quotaLeftBytes} bytes left; ` +
          'delete files or ask for a higher files.tenant_quota_bytes.',
        { param: 'file' },
      );
    if (this.lines <= maxLines) return;
    throw new DomainError('too_many_lines', `The file has more than ${maxLines} lines.`, {
      param: 'file',
    });
  }

  /** In hex; complete after the last byte. */
  get sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  #add(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#size += chunk.byteLength;
    this.#sha256.update(chunk);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1))
      this.#lineBreaks += 1;
    this.#last = chunk[chunk.byteLength - 1]!;
  }
}

/** Durable bytes without a file row. */
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
   */
  async write(
    tenant: string,
    source: AsyncIterable<Uint8Array>,
    limits: FileLimits,
  ): Promise<WrittenBytes> {
    const id = timeOrderedId('file-', Date.now());
    const measured = new MeasuredBytes({
      ...limits,
      quotaLeftBytes: await this.#quotaLeft(tenant),
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
    const createdAtMs = Date.now();
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
    if (mayBeNamed(id, this.settings.files.orphanAgeMs, Date.now())) return;
    throw storageUnavailable('Storing the bytes took too long.');
  }

  /** Only stored files count: concurrent uploads can exceed the quota together. */
  async #quotaLeft(tenant: string): Promise<number> {
    const quota = this.settings.files.tenantQuotaBytes;
    if (quota === 0) return Infinity;
    return Math.max(0, quota - (await this.files.bytesOf(tenant)));
  }

  /** Never rejects: garbage collection removes what stays. */
  async forget({ blobKey }: Pick<WrittenBytes, 'blobKey'>): Promise<void> {
    await this.blobs.remove(blobKey).catch(() => undefined);
  }
}
