import { randomUUID } from 'node:crypto';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  unlink,
  readFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../config/settings.js';
import { orStorageFull } from './storage-problems.js';
import { isAlive } from '../process/is-alive.js';

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

  #held() {
    if (this.#content === undefined)
      throw new Error('the upload was disposed before it was read');
    return this.#content;
  }

  async #free() {
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

interface SpoolLimits {
  /** Largest upload in bytes; one more is `file_too_large`. */
  readonly maxBytes: number;
  /** Uploads up to this size stay in memory. */
  readonly memoryBytes: number;
}

/** Enough for the headers of every container that keeps its duration in front. */
const HEAD_BYTES = 65_536;

/**
 * Takes one upload chunk by chunk: in memory first, from `memoryBytes` on in a file that
 * only this user can read.
 */
export class SpoolWriter {
  #chunks: Buffer[] = [];
  #size = 0;
  #head = Buffer.alloc(0);
  #file: FileHandle | undefined;

  constructor(
    private readonly path: string,
    private readonly limits: SpoolLimits,
    private readonly create: (path: string) => Promise<FileHandle> = path =>
      open(path, 'wx', 0o600),
  ) {}

  /**
   * @throws DomainError `file_too_large` at the first byte over the limit, `storage_full`
   *   when the disk is.
   */
  async write(chunk: Buffer): Promise<void> {
    this.#size += chunk.length;
    const { maxBytes, memoryBytes } = this.limits;
    if (this.#size > maxBytes) throw fileTooLarge(maxBytes);
    if (this.#file === undefined) {
      this.#chunks.push(chunk);
      if (this.#size > memoryBytes) await this.#spill();
    } else {
      await onDisk(this.#file.appendFile(chunk));
    }
  }

  async finish(): Promise<SpooledUpload> {
    if (this.#file === undefined) {
      const bytes = Buffer.concat(this.#chunks);
      return new SpooledUpload(this.#size, bytes, bytes);
    }
    await onDisk(this.#file.close());
    return new SpooledUpload(this.#size, this.#head, this.path);
  }

  /**
   * Forgets everything. The error that led here is the one to report, so this
   * one never rejects.
   */
  async abort(): Promise<void> {
    this.#chunks = [];
    if (this.#file === undefined) return;
    await this.#file.close().catch(() => undefined);
    await unlink(this.path).catch(() => undefined);
  }

  async #spill() {
    const gathered = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#head = Buffer.from(gathered.subarray(0, HEAD_BYTES));
    this.#file = await onDisk(this.create(this.path));
    await onDisk(this.#file.appendFile(gathered));
  }
}

/** @param maxBytes `server.upload_limit_bytes` or the limit of the file's purpose */
export function fileTooLarge(maxBytes: number): DomainError {
  const mib = Number((maxBytes / 1_048_576).toFixed(2));
  return new DomainError(
    'file_too_large',
    `The upload is larger than ${maxBytes} bytes (${mib} MiB).`,
    {
      param: 'file',
    },
  );
}

const onDisk = <T>(operation: Promise<T>) =>
  orStorageFull(operation, 'There is no room to store the upload.');

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
      this.#logger.log(
        `removed ${leftovers.length} leftover upload(s) from ${this.#folder}`,
      );
  }

  /**
   * Reads `source` to its end. On any failure, also of the source itself, nothing
   * is left behind.
   * @throws DomainError `file_too_large` as soon as the limit is passed, `storage_full`
   *   when the disk is.
   */
  async store(source: AsyncIterable<Buffer>): Promise<SpooledUpload> {
    const { server, spool } = this.settings;
    const writer = new SpoolWriter(
      join(this.#folder, `${process.pid}-${randomUUID()}.upload`),
      {
        maxBytes: server.uploadLimitBytes,
        memoryBytes: spool.memoryBytes,
      },
    );
    try {
      for await (const chunk of source) await writer.write(chunk);
      return await writer.finish();
    } catch (error) {
      await writer.abort();
      throw error;
    }
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

@Module({ providers: [Spool], exports: [Spool] })
export class StorageModule {}
