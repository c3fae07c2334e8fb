import { open, readFile, unlink } from 'node:fs/promises';

/**
 * Of a message to a worker: large enough that messages cost nothing, small enough that a
 * few of them are no memory.
 */
const CHUNK_BYTES = 65_536;

/**
 * One finished upload; an `AudioSource` of the worker pool by structure.
 *
 * A read that runs while the upload is disposed is completed first, so a worker call that
 * was just cancelled never meets half a file; a read after that rejects.
 */
export class SpooledUpload {
  #content: Buffer | string | undefined;
  readonly #reads = new Set<Promise<Buffer>>();
  #disposal: Promise<void> | undefined;

  /**
   * @param head the first bytes, enough for headers; all of them when the upload
   *   is smaller
   * @param content its bytes, or the path of the file that holds them
   */
  constructor(
    readonly size: number,
    readonly head: Buffer,
    content: Buffer | string,
  ) {
    this.#content = content;
  }

  /** The file on disk, or undefined while the bytes are in memory or after disposal. */
  get path(): string | undefined {
    return typeof this.#content === 'string' ? this.#content : undefined;
  }

  async bytes(): Promise<Buffer> {
    const content = this.#held();
    if (typeof content !== 'string') return content;
    const read = readFile(content);
    this.#reads.add(read);
    try {
      return await read;
    } finally {
      this.#reads.delete(read);
    }
  }

  /**
   * From the beginning, in pieces of at most 64 KiB, read as they are asked for; each
   * holds until the next is asked for. A file that is disposed of meanwhile is read to
   * its end: it is open. Every call reads anew.
   */
  async *chunks(): AsyncGenerator<Buffer> {
    const content = this.#held();
    if (typeof content !== 'string') {
      yield* slices(content);
      return;
    }
    const file = await open(content);
    try {
      // One buffer for all: new ones would pile up until the next collection of garbage,
      // 64 MiB of them.
      const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      for (let at = 0; ;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  /**
   * Frees memory and disk. Idempotent: the same promise every time; never rejects for a
   * file already gone.
   */
  dispose(): Promise<void> {
    return (this.#disposal ??= this.#free());
  }

  #held(): Buffer | string {
    if (this.#content === undefined)
      throw new Error('the upload was disposed before it was read');
    return this.#content;
  }

  async #free(): Promise<void> {
    const { path } = this;
    this.#content = undefined;
    if (path === undefined) return;
    await Promise.allSettled(this.#reads);
    await unlink(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    yield bytes.subarray(at, at + CHUNK_BYTES);
}
