import { Injectable } from '@nestjs/common';
import { type TranscriptionJob } from '../../contracts/queue-jobs/queue-job.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { fileTooLarge } from '../../platform/storage/spool.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { AudioDownload } from '../audio/audio-download.js';
import { ReceivedFile } from '../audio/received-file.js';
import { abortError } from '../../core/errors/abort-error.js';

/** Audio of a job by reference: a blob in the shared store, or a URL (`fetch.*`). */
@Injectable()
export class QueuedAudio {
  constructor(
    private readonly spec: WorkerSpec,
    private readonly blobs: BlobStore,
    private readonly downloads: AudioDownload,
  ) {}

  /** Bytes of a blob. @throws DomainError `file_not_found`, `file_too_large` */
  async size(key: string): Promise<number> {
    const size = await this.blobs.size(key).catch((error: unknown) => {
      throw asAbsent(key, error);
    });
    if (size === undefined) throw missing(key);
    if (size > this.spec.uploadLimitBytes) throw fileTooLarge(this.spec.uploadLimitBytes);
    return size;
  }

  /** A blob in memory. @throws DomainError `file_not_found`; the abort's error */
  async bytes(key: string, signal: AbortSignal): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#pieces(key, signal)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /**
   * The audio in an unlinked temporary file.
   * @throws DomainError as `bytes` and `AudioDownload` do, `file_too_large`
   */
  async file(
    audio: TranscriptionJob['audio'],
    signal: AbortSignal,
  ): Promise<ReceivedFile> {
    const file = await ReceivedFile.open(this.spec.uploadLimitBytes);
    try {
      const pieces =
        'url' in audio
          ? this.downloads.pieces(audio.url, signal)
          : this.#pieces(audio.blob, signal);
      for await (const piece of pieces)
        await file.append(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      return file;
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  async *#pieces(key: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.blobs.read(key)) {
        if (signal.aborted) throw abortError(signal);
        yield piece;
      }
    } catch (error) {
      throw asAbsent(key, error);
    }
  }
}

const missing = (key: string, cause?: unknown): DomainError =>
  new DomainError('file_not_found', `There is no audio ${key} in the blob store.`, {
    param: 'audio.blob',
    cause,
  });

/** An invalid key counts as a missing blob. */
const asAbsent = (key: string, error: unknown): unknown =>
  error instanceof BlobMissing || error instanceof RangeError
    ? missing(key, error)
    : error;
