import { type FileHandle } from 'node:fs/promises';
import { fileTooLarge } from '../../platform/storage/spool.js';
import { orStorageFull } from '../../platform/storage/storage-problems.js';
import { openUnnamed } from './upload-file.js';

interface ReceivedFileOptions {
  /** One byte more is `file_too_large`. */
  readonly maxBytes: number;
  /** Tests give one that is full. */
  readonly create?: () => Promise<FileHandle>;
}

/**
 * An upload that arrives in pieces, in a file of this worker that has no name: whatever ends the request or the process, nothing is left
 * behind. The folder is the system's for temporary files (`TMPDIR`).
 */
export class ReceivedFile implements AsyncDisposable {
  #size = 0;

  private constructor(
    readonly handle: FileHandle,
    private readonly maxBytes: number,
  ) {}

  /** @throws DomainError `storage_full` */
  static async open({ maxBytes, create = openUnnamed }: ReceivedFileOptions): Promise<ReceivedFile> {
    return new ReceivedFile(await onDisk(create()), maxBytes);
  }

  get size(): number {
    return this.#size;
  }

  /** Resolves when the piece is written: the back pressure. @throws DomainError `file_too_large`, `storage_full` */
  async append(piece: Buffer): Promise<void> {
    this.#size += piece.length;
    if (this.#size > this.maxBytes) throw fileTooLarge(this.maxBytes);
    await onDisk(this.handle.appendFile(piece));
  }

  /** All of it in memory. */
  async bytes(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.#size);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await this.handle.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) return bytes.subarray(0, at);
      at += bytesRead;
    }
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

const onDisk = <T>(operation: Promise<T>): Promise<T> =>
  orStorageFull(operation, 'The worker has no room for the upload in its temporary folder.');
