import { dirname } from 'node:path';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { freeBytes } from '../../../platform/storage/storage-problems.js';
import { HubError } from './hub-error.js';
import type { HubHttp } from './hub-http.js';
import { digestIn, type ListedFile, PartialFile } from './partial-file.js';

const NO_FIT = 'sent a rest that does not fit the beginning; it begins again';

/** Largest size of a file that announces none, as a share of the free disk. */
const UNANNOUNCED_SHARE = 0.5;

/** Hears what happens during a pull, such as a progress display. Sizes in bytes. */
export interface PullObserver {
  /** Before the first byte: all files, and what of them is here already. */
  planned(files: number, bytes: number | undefined, present: number, folder: string): void;
  /** A file begins, or begins again, with `have` bytes of an earlier attempt. */
  started(path: string, have: number, size: number | undefined): void;
  received(path: string, bytes: number): void;
  waiting(path: string, ms: number, why: string): void;
  /** A file is in its place and checked; `already`: it was there before. */
  done(path: string, size: number, already: boolean): void;
}

/** What a pull works with; what may be left out is that of this machine. */
export interface PullContext {
  readonly http: HubHttp;
  readonly signal: AbortSignal;
  readonly observer: PullObserver;
  /** Longest silence of a server that has begun to send. */
  readonly stallMs: number;
  readonly openFile?: ConstructorParameters<typeof PartialFile>[2];
  readonly timing?: RetryTiming;
  readonly freeBytes?: (folder: string) => Promise<number>;
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
    private readonly target: string,
    private readonly context: PullContext,
  ) {
    this.#partial = new PartialFile(file, target, context.openFile);
  }

  /**
   * @throws HubError, `transient` when another attempt may succeed; the abort's reason.
   */
  async attempt(): Promise<{ readonly size: number; readonly sha256: string }> {
    const { stallMs, signal } = this.context;
    this.received = 0;
    const stall = new AbortController();
    const timer = setTimeout(() => stall.abort(), stallMs);
    try {
      const response = await this.#request(AbortSignal.any([signal, stall.signal]));
      return await this.#take(response, () => timer.refresh());
    } catch (error) {
      signal.throwIfAborted();
      if (stall.signal.aborted) throw this.#cut(`sent nothing for ${stallMs / 1000} s`, error);
      throw error;
    } finally {
      clearTimeout(timer);
      await this.#partial.close();
    }
  }

  /** @returns the rest of the file, or all of it; the partial file is open for it */
  async #request(signal: AbortSignal) {
    const { bytes, etag } = await this.#partial.resumable();
    const headers = {
      // A compressed body would have other sizes and other ranges.
      'accept-encoding': 'identity',
      ...(bytes > 0 && { range: `bytes=${bytes}-` }),
      ...(etag !== undefined && { 'if-range': etag }),
    };
    const response = await this.context.http.get(this.file.url, signal, headers);
    if (bytes > 0 && continues(response, bytes, etag)) {
      await this.#partial.append();
      return response;
    }
    if (response.status === 200) {
      await this.#restart(response);
      return response;
    }
    await response.body?.cancel();
    if (bytes > 0 && response.status === 416 && rangeTotal(response) === bytes) {
      // All of it came before; only the check and the rename are missing.
      await this.#partial.append();
      return new Response(null);
    }
    await this.#partial.discard();
    throw this.#cut('changed the file since the last attempt; it begins again');
  }

  async #restart(response: Response) {
    const { size } = this.file;
    const encoding = response.headers.get('content-encoding') ?? 'identity';
    const total = lengthOf(response);
    const problem =
      encoding !== 'identity'
        ? new HubError('refused', `${this.#where} came as ${encoding}: its size cannot be checked`)
        : size !== undefined && total !== undefined && total !== size
          ? new HubError(
              'checksum',
              `${this.#where} has ${total} bytes there, ${size} were announced`,
            )
          : undefined;
    if (problem) {
      await response.body?.cancel();
      throw problem;
    }
    // Of a file whose size was announced, the disk was asked before.
    const unknown = size === undefined ? (total ?? 0) : 0;
    await this.#partial.restart(strong(response.headers.get('etag')), unknown);
  }

  async #take(response: Response, heard: () => void) {
    const { observer, freeBytes: free = freeBytes } = this.context;
    const { path } = this.file;
    const partial = this.#partial;
    const have = partial.size;
    const total = this.file.size ?? totalOf(response, have);
    const most = total ?? Math.floor(UNANNOUNCED_SHARE * (await free(dirname(this.target))));
    observer.started(path, have, total);
    for await (const chunk of this.#chunks(response)) {
      heard();
      if (partial.size + chunk.length > most)
        throw await this.#discarded(
          have,
          total === undefined
            ? `has no announced size and more than half of the free disk, ${most} bytes`
            : `has more than the ${most} bytes that were announced`,
        );
      await partial.write(chunk);
      this.received += chunk.length;
      observer.received(path, chunk.length);
    }
    const { size } = partial;
    if (total !== undefined && size < total)
      throw this.#cut(`ended after ${size} of ${total} bytes`);
    const { sha256, matches } = await partial.keep();
    if (matches) return { size, sha256 };
    throw await this.#discarded(
      have,
      `is damaged or another file: expected ${digestIn(this.file)}, got ${sha256} (${size} bytes)`,
    );
  }

  /**
   * Discards the file. The error of a continued download allows another attempt, because its
   * beginning may have been wrong.
   */
  async #discarded(have: number, what: string) {
    await this.#partial.discard();
    return have > 0 ? this.#cut(NO_FIT) : new HubError('checksum', `${this.#where} ${what}`);
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

  #cut(what: string, cause?: unknown) {
    return new HubError('unreachable', `${this.#where}: the server ${what}`, {
      transient: true,
      cause,
    });
  }

  get #where() {
    return `${this.file.path} (${new URL(this.file.url).host})`;
  }
}

/**
 * The answer is the rest of what is here: the right range, and of the same file where the
 * server says which it is.
 */
function continues(response: Response, have: number, etag: string | undefined) {
  if (response.status !== 206) return false;
  const now = strong(response.headers.get('etag'));
  if (etag !== undefined && now !== undefined && now !== etag) return false;
  return response.headers.get('content-range')?.startsWith(`bytes ${have}-`) ?? false;
}

const strong = (etag: string | null) => (etag?.startsWith('"') ? etag : undefined);

function lengthOf({ headers }: Response) {
  const length = headers.get('content-length');
  return length !== null && /^\d+$/.test(length) ? Number(length) : undefined;
}

/** `bytes 5-9/10` and `bytes *\/10` → 10 */
function rangeTotal({ headers }: Response) {
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}

const totalOf = (response: Response, have: number) =>
  rangeTotal(response) ?? (have === 0 ? lengthOf(response) : undefined);
