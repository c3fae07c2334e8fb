import { createReadStream } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFailure } from './disk-space.js';
import { FileDigest } from './file-digest.js';
import { PARTIAL_SUFFIX } from './model-folder.js';
import { type ListedFile } from './file-listing.js';

/**
 * Decides whether the rest of a file can be appended to its beginning. Kept beside it as
 * `NAME.partial.json`.
 */
export interface PartialOrigin {
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
  readonly path: string;
  readonly #originPath: string;

  constructor(
    readonly target: string,
    private readonly openFile: OpenFile = open,
  ) {
    this.path = target + PARTIAL_SUFFIX;
    this.#originPath = `${this.path}.json`;
  }

  /**
   * Bytes that can be continued; 0 when there are none, or they belong to another file.
   */
  async resumable({
    url,
    digest,
  }: ListedFile): Promise<{ readonly bytes: number; readonly etag: string | undefined }> {
    const origin = await this.#origin();
    const size = await sizeOnDisk(this.path);
    const same = origin && (digest ? origin.digest === digest.hex : origin.url === url);
    // Without validator and digest it is unknown whether the two halves belong together.
    if (!origin || !same || !size || !(origin.etag ?? digest))
      return { bytes: 0, etag: undefined };
    return { bytes: size, etag: origin.etag };
  }

  /** Opens it for the rest of the file, what is there already hashed. */
  async append(file: ListedFile): Promise<{ handle: FileHandle; digest: FileDigest }> {
    const digest = new FileDigest(file.digest);
    for await (const chunk of createReadStream(this.path)) digest.update(chunk as Buffer);
    return { handle: await this.#open('a'), digest };
  }

  /**
   * Opens it empty, and notes where its bytes come from before any of them is written.
   */
  async restart(
    file: ListedFile,
    origin: PartialOrigin,
  ): Promise<{ handle: FileHandle; digest: FileDigest }> {
    try {
      await mkdir(dirname(this.path), { recursive: true });
      await writeFile(this.#originPath, JSON.stringify(origin));
    } catch (error) {
      throw writeFailure(error, this.path);
    }
    return { handle: await this.#open('w'), digest: new FileDigest(file.digest) };
  }

  /**
   * Into its place: after a power cut there is the whole file or the partial
   * one, nothing between.
   */
  async finish(handle: FileHandle): Promise<void> {
    try {
      await handle.sync();
      await handle.close();
      await rename(this.path, this.target);
    } catch (error) {
      throw writeFailure(error, this.path);
    }
    await rm(this.#originPath, { force: true });
  }

  async discard(): Promise<void> {
    await rm(this.path, { force: true });
    await rm(this.#originPath, { force: true });
  }

  async #open(flags: 'w' | 'a'): Promise<FileHandle> {
    try {
      return await this.openFile(this.path, flags);
    } catch (error) {
      throw writeFailure(error, this.path);
    }
  }

  async #origin(): Promise<PartialOrigin | undefined> {
    try {
      return JSON.parse(await readFile(this.#originPath, 'utf8')) as PartialOrigin;
    } catch {
      return undefined; // none, or cut off in the middle of writing it
    }
  }
}

/** Bytes of a file; undefined when there is none. */
export async function sizeOnDisk(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}
