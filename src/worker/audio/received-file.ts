import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileTooLarge } from '../../platform/storage/size-limit.js';
import { orStorageProblem } from '../../platform/storage/storage-problems.js';

const PLACE = 'the temporary folder of the worker';

/**
 * An open, seekable file without a name. ffmpeg finds no samples in an m4a with its index
 * at the end when it comes through a pipe (ENGINES "ffmpeg"); a file that is unlinked
 * while it is still empty leaves nothing behind, even when this process is killed, and no
 * other process can open it.
 * @throws the system's error
 */
export async function openUnnamed(): Promise<FileHandle> {
  // mkdtemp makes the folder with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-audio-'));
  try {
    const path = join(folder, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  } finally {
    await rmdir(folder);
  }
}

/**
 * An upload that arrives in pieces, in a file of this worker that has no name: whatever
 * ends the request or the process, nothing is left behind. The folder is the system's for
 * temporary files (`TMPDIR`).
 */
export class ReceivedFile implements AsyncDisposable {
  size = 0;

  private constructor(
    readonly handle: FileHandle,
    private readonly maxBytes: number,
  ) {}

  /**
   * @param maxBytes one more is `file_too_large`. @param create tests give one that is full
   * @throws DomainError `storage_full`, `storage_unavailable`
   */
  static async open(maxBytes: number, create = openUnnamed): Promise<ReceivedFile> {
    return new ReceivedFile(await orStorageProblem(create(), PLACE), maxBytes);
  }

  /** All of it. @throws as `open` and `append` do, or what `pieces` throws: it is gone then */
  static async of(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<ReceivedFile> {
    const file = await ReceivedFile.open(maxBytes);
    try {
      for await (const piece of pieces) await file.append(piece);
      return file;
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Resolves when the piece is written: the back pressure. @throws DomainError
   * `file_too_large`, `storage_full`
   */
  async append(piece: Uint8Array): Promise<void> {
    this.size += piece.length;
    if (this.size > this.maxBytes) throw fileTooLarge(this.maxBytes);
    await orStorageProblem(this.handle.appendFile(piece), PLACE);
  }

  /** The whole file, in memory. */
  async bytes(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.size);
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
