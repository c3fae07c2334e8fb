import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { demandSpace, writeFailure } from './disk-space.js';
import type { FileDigest } from './file-digest.js';
import type { ListedFile } from './file-listing.js';
import { HubError } from './hub-error.js';
import type { HubHttp } from './hub-http.js';
import { type OpenFile, PartialFile } from './partial-file.js';

/**
 * Aborts what it watches when nothing was heard for a while; the caller says so with
 * `heard`, and ends it with `stop`.
 */
export class StallWatch {
  readonly #stall = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborts on a stall, and with the signal it was given. */
  readonly signal: AbortSignal;

  constructor(limitMs: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#stall.signal]);
    this.#timer = setTimeout(() => this.#stall.abort(), limitMs);
  }

  get stalled(): boolean {
    return this.#stall.signal.aborted;
  }

  heard(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

const NO_FIT = 'sent a rest that does not fit the beginning; it begins again';

/** Most of a file whose size nobody announced. */
const UNANNOUNCED_BYTES = 256 * 1024 ** 3;

/** What happens during a pull, for a progress display. Sizes in bytes. */
export type PullEvent =
  /** Known before the first byte: all files, and what of them is here already. */
  | {
      readonly type: 'planned';
      readonly files: number;
      readonly bytes: number | undefined;
      readonly presentBytes: number;
      readonly folder: string;
    }
  /** A file begins, or begins again, with `have` bytes of an earlier attempt. */
  | {
      readonly type: 'started';
      readonly path: string;
      readonly have: number;
      readonly size: number | undefined;
    }
  | { readonly type: 'received'; readonly path: string; readonly bytes: number }
  | {
      readonly type: 'waiting';
      readonly path: string;
      readonly ms: number;
      readonly why: string;
    }
  /** In its place, checked. `already`: it was there. */
  | {
      readonly type: 'done';
      readonly path: string;
      readonly size: number;
      readonly already: boolean;
    };

export type PullObserver = (event: PullEvent) => void;

export interface DownloadContext {
  readonly http: HubHttp;
  readonly signal: AbortSignal;
  readonly observe: PullObserver;
  /** Longest silence of a server that has begun to send. */
  readonly stallMs: number;
  readonly openFile?: OpenFile;
}

export interface DownloadedFile {
  readonly size: number;
  readonly sha256: string;
}

/**
 * How one answer of the server is taken: what it brings, and what of the file
 * is here already.
 */
interface Intake {
  readonly response: Response;
  readonly handle: FileHandle;
  readonly digest: FileDigest;
  readonly have: number;
}

/**
 * One attempt after another at one file. Each continues where the last one ended, when
 * that is still the same file.
 */
export class FileDownload {
  readonly #partial: PartialFile;
  /**
   * Bytes that the last attempt brought: retries are counted anew while
   * there is progress.
   */
  received = 0;

  constructor(
    private readonly file: ListedFile,
    target: string,
    private readonly context: DownloadContext,
  ) {
    this.#partial = new PartialFile(target, context.openFile);
  }

  /**
   * @throws HubError, `transient` when another attempt may succeed; the abort's reason.
   */
  async attempt(): Promise<DownloadedFile> {
    this.received = 0;
    const watch = new StallWatch(this.context.stallMs, this.context.signal);
    try {
      const intake = await this.#request(watch.signal);
      return await this.#take(intake, watch);
    } catch (error) {
      this.context.signal.throwIfAborted();
      throw watch.stalled
        ? this.#cut(`sent nothing for ${this.context.stallMs / 1000} s`, error)
        : error;
    } finally {
      watch.stop();
    }
  }

  async #request(signal: AbortSignal): Promise<Intake> {
    const { bytes, etag } = await this.#partial.resumable(this.file);
    const range =
      bytes > 0 ? { range: `bytes=${bytes}-`, ...(etag && { 'if-range': etag }) } : {};
    // A compressed body would have other sizes and other ranges.
    const headers = { 'accept-encoding': 'identity', ...range };
    const response = await this.context.http.get(this.file.url, { headers, signal });
    if (bytes > 0 && continues(response, bytes, etag)) {
      return { response, have: bytes, ...(await this.#partial.append(this.file)) };
    }
    if (response.status === 200) return this.#fromStart(response);
    await response.body?.cancel();
    if (bytes > 0 && response.status === 416 && rangeTotal(response) === bytes) {
      // All of it came before; only the check and the rename are missing.
      return {
        response: new Response(null),
        have: bytes,
        ...(await this.#partial.append(this.file)),
      };
    }
    await this.#partial.discard();
    throw this.#cut('changed the file since the last attempt; it begins again');
  }

  async #fromStart(response: Response): Promise<Intake> {
    const encoding = response.headers.get('content-encoding') ?? 'identity';
    if (encoding !== 'identity') {
      await response.body?.cancel();
      throw new HubError(
        'refused',
        `${this.#where()} came as ${encoding}: its size cannot be checked`,
      );
    }
    const total = lengthOf(response);
    if (this.file.size !== undefined && total !== undefined && total !== this.file.size) {
      await response.body?.cancel();
      throw new HubError(
        'checksum',
        `${this.#where()} has ${total} bytes there, ${this.file.size} were announced`,
      );
    }
    const etag = strong(response.headers.get('etag'));
    const origin = { url: this.file.url, etag, digest: this.file.digest?.hex };
    const opened = await this.#partial.restart(this.file, origin);
    if (this.file.size === undefined && total !== undefined)
      await this.#demandSpace(total, opened.handle);
    return { response, have: 0, ...opened };
  }

  async #demandSpace(bytes: number, handle: FileHandle): Promise<void> {
    try {
      await demandSpace(dirname(this.#partial.path), bytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #take(
    { response, handle, digest, have }: Intake,
    watch: StallWatch,
  ): Promise<DownloadedFile> {
    const { path } = this.file;
    const total = this.file.size ?? totalOf(response, have);
    const most = total ?? UNANNOUNCED_BYTES;
    let size = have;
    try {
      this.context.observe({ type: 'started', path, have, size: total });
      for await (const chunk of this.#chunks(response)) {
        watch.heard();
        if (size + chunk.length > most) throw await this.#tooLong(most, have);
        await writeAll(handle, chunk).catch((error: unknown) =>
          Promise.reject(writeFailure(error, this.#partial.path)),
        );
        digest.update(chunk);
        size += chunk.length;
        this.received += chunk.length;
        this.context.observe({ type: 'received', path, bytes: chunk.length });
      }
      if (total !== undefined && size < total)
        throw this.#cut(`ended after ${size} of ${total} bytes`);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return this.#check({ handle, digest, have, size, total });
  }

  async #tooLong(bytes: number, have: number): Promise<HubError> {
    await this.#partial.discard();
    if (have > 0) return this.#cut(NO_FIT);
    return new HubError(
      'checksum',
      `${this.#where()} has more than the ${bytes} bytes that were announced`,
    );
  }

  async #check({
    handle,
    digest,
    have,
    size,
    total,
  }: Omit<Intake, 'response'> & { size: number; total?: number | undefined }) {
    const { sha256, matches } = digest.finish();
    if (matches !== false && (total === undefined || size === total)) {
      await this.#partial.finish(handle);
      return { size, sha256 };
    }
    await handle.close();
    await this.#partial.discard();
    if (have > 0) throw this.#cut(NO_FIT);
    const wanted = this.file.digest?.hex ?? `${total} bytes`;
    throw new HubError(
      'checksum',
      `${this.#where()} is damaged or another file: expected ${wanted}, got ${sha256} (${size} bytes)`,
    );
  }

  async *#chunks({ body }: Response): AsyncGenerator<Uint8Array> {
    if (!body) return;
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      this.context.signal.throwIfAborted();
      throw this.#cut('cut the connection', error);
    }
  }

  #cut(what: string, cause?: unknown): HubError {
    return new HubError('unreachable', `${this.#where()}: the server ${what}`, {
      transient: true,
      cause,
    });
  }

  #where(): string {
    return `${this.file.path} (${new URL(this.file.url).host})`;
  }
}

/**
 * The answer is the rest of what is here: the right range, and of the same file where the
 * server says which it is.
 */
function continues(response: Response, have: number, etag: string | undefined): boolean {
  if (response.status !== 206) return false;
  const now = strong(response.headers.get('etag'));
  if (etag !== undefined && now !== undefined && now !== etag) return false;
  return response.headers.get('content-range')?.startsWith(`bytes ${have}-`) ?? false;
}

const strong = (etag: string | null): string | undefined =>
  etag?.startsWith('"') ? etag : undefined;

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  return length !== null && /^\d+$/.test(length) ? Number(length) : undefined;
}

/** `bytes 5-9/10` and `bytes *\/10` → 10 */
function rangeTotal({ headers }: Response): number | undefined {
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}

const totalOf = (response: Response, have: number): number | undefined =>
  rangeTotal(response) ?? (have === 0 ? lengthOf(response) : undefined);

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
}
