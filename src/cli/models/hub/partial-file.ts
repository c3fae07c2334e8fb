import { createHash } from 'node:crypto';
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
import { writeAll } from '../../../platform/storage/durable-files.js';
import { demandSpace, writing } from './disk-space.js';

/** One file that a source offers. */
export interface ListedFile {
  /** Inside the model's folder, with slashes; safe to write. */
  readonly path: string;
  readonly url: string;
  /** Bytes, where the source says. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
  /**
   * What git calls a file of `size` bytes (`blob SIZE\0` + bytes, SHA-1), as hubs give for
   * small files that have no `sha256`.
   */
  readonly gitId?: string | undefined;
}

/** @returns undefined when there is none, or one that was cut off while it was written */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Bytes of a file; undefined when there is none. */
export async function sizeOnDisk(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

/** The digest that the bytes must have, in hex; undefined: the source names none. */
export const digestIn = ({
  sha256,
  gitId,
}: Pick<ListedFile, 'sha256' | 'gitId'>): string | undefined => sha256 ?? gitId;

/**
 * Hashes bytes as they come: always sha256, for the manifest, and what
 * is expected besides.
 */
function digestOf(expected: Omit<ListedFile, 'path' | 'url'>) {
  const { size, sha256, gitId } = expected;
  const hash = createHash('sha256');
  const isGit = sha256 === undefined && gitId !== undefined;
  const git = isGit ? createHash('sha1').update(`blob ${size}\0`) : undefined;
  const wanted = digestIn(expected)?.toLowerCase();
  return {
    /** Bytes so far. */
    size: 0,
    update(chunk: Uint8Array): void {
      this.size += chunk.length;
      hash.update(chunk);
      git?.update(chunk);
    },
    /** To be called once, at the end. Without an expected digest, every file matches. */
    finish() {
      const own = hash.digest('hex');
      const found = git?.digest('hex') ?? own;
      return { sha256: own, matches: wanted === undefined || found === wanted };
    },
  };
}

/** Reads the whole file. @throws the file system's error, such as ENOENT */
export async function digestFile(
  path: string,
  expected: Parameters<typeof digestOf>[0],
  signal?: AbortSignal,
): Promise<ReturnType<typeof digestOf>> {
  const digest = digestOf(expected);
  for await (const chunk of createReadStream(path, { signal })) digest.update(chunk as Buffer);
  return digest;
}

export const PARTIAL_SUFFIX = '.partial';

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

/**
 * The unfinished `NAME.partial`: it survives crashes, and becomes `NAME` by a rename when
 * it is whole and right.
 */
export class PartialFile {
  readonly #path: string;
  readonly #originPath: string;
  #handle: FileHandle | undefined;
  #digest = digestOf({});

  constructor(
    private readonly file: ListedFile,
    private readonly target: string,
    private readonly openFile: (path: string, flags: 'w' | 'a') => Promise<FileHandle> = open,
  ) {
    this.#path = target + PARTIAL_SUFFIX;
    this.#originPath = `${this.#path}.json`;
  }

  /** Bytes in it, once it is open. */
  get size(): number {
    return this.#digest.size;
  }

  /**
   * Bytes that can be continued; 0 when there are none, or they belong to another file.
   */
  async resumable(): Promise<Pick<PartialOrigin, 'etag'> & { readonly bytes: number }> {
    const digest = digestIn(this.file);
    const origin = await readJson<PartialOrigin>(this.#originPath);
    const isSame = digest ? origin?.digest === digest : origin?.url === this.file.url;
    // Without validator and digest it is unknown whether the two halves belong together.
    if (!origin || !isSame || !(origin.etag ?? digest)) return { bytes: 0 };
    const bytes = (await sizeOnDisk(this.#path)) ?? 0;
    return { bytes, etag: bytes > 0 ? origin.etag : undefined };
  }

  /** Opens it for the rest of the file, what is there already hashed. */
  async append(): Promise<void> {
    this.#digest = await digestFile(this.#path, this.file);
    await this.#open('a');
  }

  /**
   * Opens it empty, and notes where its bytes come from before any of them is written.
   * @param bytes that the disk must have room for
   */
  async restart(etag: string | undefined, bytes: number): Promise<void> {
    const { url } = this.file;
    const origin: PartialOrigin = { url, etag, digest: digestIn(this.file) };
    const folder = dirname(this.#path);
    await writing(this.#path, async () => {
      await mkdir(folder, { recursive: true });
      await writeFile(this.#originPath, JSON.stringify(origin));
    });
    this.#digest = digestOf(this.file);
    await this.#open('w');
    await demandSpace(folder, bytes);
  }

  async write(chunk: Uint8Array): Promise<void> {
    const handle = this.#handle!;
    await writing(this.#path, () => writeAll(handle, chunk));
    this.#digest.update(chunk);
  }

  /**
   * Into its place, if its bytes are those that were announced: after a power cut there is
   * the whole file or the partial one, nothing between.
   */
  async keep(): Promise<{ readonly sha256: string; readonly matches: boolean }> {
    const found = this.#digest.finish();
    if (!found.matches) return found;
    await writing(this.#path, async () => {
      await this.#handle?.sync();
      await this.close();
      await rename(this.#path, this.target);
    });
    await rm(this.#originPath, { force: true });
    return found;
  }

  async discard(): Promise<void> {
    await this.close();
    await rm(this.#path, { force: true });
    await rm(this.#originPath, { force: true });
  }

  /** Closes the file and keeps it for the next attempt. Idempotent. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #open(flags: 'w' | 'a') {
    this.#handle = await writing(this.#path, () => this.openFile(this.#path, flags));
  }
}
