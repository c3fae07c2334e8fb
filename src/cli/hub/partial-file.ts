import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { demandSpace, writing } from './disk-space.js';
import {
  digestFile,
  FileDigest,
  PARTIAL_SUFFIX,
  readJson,
  sizeOnDisk,
} from './model-store.js';
import { type ListedFile } from './file-listing.js';

/**
 * Decides whether the rest of a file can be appended to its beginning. Kept beside it as
 * `NAME.partial.json`.
 */
interface PartialOrigin {
  readonly url: string;
  /** Strong validator of the answer; absent when the server gave none. */
  readonly etag?: string | undefined;
  /** The digest that was expected, in hex. */
  readonly digest?: string | undefined;
}

export type OpenFile = (path: string, flags: 'w' | 'a') => Promise<FileHandle>;

/**
 * The unfinished `NAME.partial`: it survives crashes, and becomes `NAME` by a rename when
 * it is whole and right.
 */
export class PartialFile {
  readonly #path: string;
  readonly #originPath: string;
  #handle: FileHandle | undefined;
  #digest = new FileDigest(undefined);
  #size = 0;

  constructor(
    private readonly file: ListedFile,
    private readonly target: string,
    private readonly openFile: OpenFile = open,
  ) {
    this.#path = target + PARTIAL_SUFFIX;
    this.#originPath = `${this.#path}.json`;
  }

  /** Bytes in it, once it is open. */
  get size(): number {
    return this.#size;
  }

  /**
   * Bytes that can be continued; 0 when there are none, or they belong to another file.
   */
  async resumable(): Promise<{ readonly bytes: number; readonly etag?: string }> {
    const { url, digest } = this.file;
    const origin = await readJson<PartialOrigin>(this.#originPath);
    const isSame = digest ? origin?.digest === digest.hex : origin?.url === url;
    // Without validator and digest it is unknown whether the two halves belong together.
    if (!origin || !isSame || !(origin.etag ?? digest)) return { bytes: 0 };
    const { etag } = origin;
    const bytes = (await sizeOnDisk(this.#path)) ?? 0;
    return bytes > 0 && etag !== undefined ? { bytes, etag } : { bytes };
  }

  /** Opens it for the rest of the file, what is there already hashed. */
  async append(): Promise<void> {
    this.#digest = await digestFile(this.#path, this.file.digest);
    this.#size = (await sizeOnDisk(this.#path)) ?? 0;
    await this.#open('a');
  }

  /**
   * Opens it empty, and notes where its bytes come from before any of them is written.
   * @param bytes that the disk must have room for
   */
  async restart(etag: string | undefined, bytes: number): Promise<void> {
    const { url, digest } = this.file;
    const origin: PartialOrigin = { url, etag, digest: digest?.hex };
    const folder = dirname(this.#path);
    await writing(this.#path, async () => {
      await mkdir(folder, { recursive: true });
      await writeFile(this.#originPath, JSON.stringify(origin));
    });
    this.#digest = new FileDigest(digest);
    this.#size = 0;
    await this.#open('w');
    await demandSpace(folder, bytes);
  }

  async write(chunk: Uint8Array): Promise<void> {
    const handle = this.#handle!;
    await writing(this.#path, async () => {
      for (let at = 0; at < chunk.length;)
        at += (await handle.write(chunk, at)).bytesWritten;
    });
    this.#digest.update(chunk);
    this.#size += chunk.length;
  }

  /** Of all bytes in it. */
  finish(): ReturnType<FileDigest['finish']> {
    return this.#digest.finish();
  }

  /**
   * Into its place: after a power cut there is the whole file or the partial
   * one, nothing between.
   */
  async keep(): Promise<void> {
    await writing(this.#path, async () => {
      await this.#handle?.sync();
      await this.close();
      await rename(this.#path, this.target);
    });
    await rm(this.#originPath, { force: true });
  }

  async discard(): Promise<void> {
    await this.close();
    await rm(this.#path, { force: true });
    await rm(this.#originPath, { force: true });
  }

  /** Leaves what is there for the next attempt. Idempotent. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #open(flags: 'w' | 'a') {
    this.#handle = await writing(this.#path, () => this.openFile(this.#path, flags));
  }
}
