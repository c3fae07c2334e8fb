import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { Settings } from '../config/settings.js';
import { ifPresent } from './durable-files.js';
import { orStorageProblem } from './storage-problems.js';

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
  readonly #reads = new Set<Promise<Buffer>>();
  #content: Buffer | string | undefined;
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
    const content = this.#content ?? disposed();
    if (typeof content !== 'string') return content;
    const read = orStorageProblem(readFile(content));
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
    const content = this.#content ?? disposed();
    if (typeof content !== 'string') {
      yield* slices(content);
      return;
    }
    const file = await orStorageProblem(open(content));
    try {
      // One buffer for all: new ones would pile up until the next collection of garbage,
      // 64 MiB of them.
      const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      for (let at = 0; ;) {
        const { bytesRead } = await orStorageProblem(file.read(buffer, 0, CHUNK_BYTES, at));
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
    const content = this.#content;
    this.#content = undefined;
    return (this.#disposal ??=
      typeof content === 'string' ? this.#remove(content) : Promise.resolve());
  }

  async #remove(path: string): Promise<void> {
    await Promise.allSettled(this.#reads);
    await ifPresent(unlink(path));
  }
}

function disposed(): never {
  throw new Error('the upload was disposed before it was read');
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Enough for the headers of every container that keeps its duration in front. */
const HEAD_BYTES = 65_536;

/**
 * Reads `source` to its end: into memory first, from `memoryBytes` on into a file that
 * only this user can read. On any failure, also of the source itself, nothing is left
 * behind.
 * @throws DomainError `storage_full`, or the error of the source
 */
export async function spooled(
  source: AsyncIterable<Buffer>,
  path: string,
  memoryBytes: number,
  create: () => Promise<FileHandle> = () => open(path, 'wx', 0o600),
): Promise<SpooledUpload> {
  /** All of it, or the first bytes of what is in the file. */
  let chunks: Buffer[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (file) await orStorageProblem(file.appendFile(chunk));
      else chunks.push(chunk);
      if (file || size <= memoryBytes) continue;
      const gathered = Buffer.concat(chunks);
      chunks = [Buffer.from(gathered.subarray(0, HEAD_BYTES))];
      file = await orStorageProblem(create());
      await orStorageProblem(file.appendFile(gathered));
    }
    if (file) await orStorageProblem(file.close());
    const head = Buffer.concat(chunks);
    return new SpooledUpload(size, head, file ? path : head);
  } catch (error) {
    // The error that led here is the one to report.
    if (file) {
      await file.close().catch(() => undefined);
      await unlink(path).catch(() => undefined);
    }
    throw error;
  }
}

/**
 * Holds uploads between the socket and the worker: small ones in memory, larger ones
 * in `data.dir/spool`.
 */
@Injectable()
export class Spool implements OnModuleInit {
  readonly #logger = new Logger(Spool.name);
  readonly #folder: string;

  constructor(private readonly settings: Settings) {
    this.#folder = join(settings.data.dir, 'spool');
  }

  /** Makes the folder and removes what processes that are gone left in it. */
  async onModuleInit(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const leftovers = (await readdir(this.#folder)).filter(isLeftover);
    await Promise.all(
      leftovers.map(name => unlink(join(this.#folder, name)).catch(() => undefined)),
    );
    if (leftovers.length > 0)
      this.#logger.log(`removed ${leftovers.length} leftover upload(s) from ${this.#folder}`);
  }

  /** @throws DomainError as `spooled` does */
  store(source: AsyncIterable<Buffer>): Promise<SpooledUpload> {
    const path = join(this.#folder, `${process.pid}-${randomUUID()}.upload`);
    return spooled(source, path, this.settings.spool.memoryBytes);
  }
}

/**
 * Files carry the id of the process that made them, so that two gateways can share
 * a data folder.
 */
function isLeftover(name: string) {
  const pid = Number(/^(\d+)-[0-9a-f-]+\.upload$/.exec(name)?.[1]);
  return Number.isInteger(pid) && (pid === process.pid || !isAlive(pid));
}
