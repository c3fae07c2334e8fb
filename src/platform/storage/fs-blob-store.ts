import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { BlobAdapter, type ByteRange } from './blob-adapter.js';
import { filesUnder, ifPresent, isAbsent, syncFolder } from './durable-files.js';
import { BlobMissing, orStorageProblem } from './storage-problems.js';

/** Files being written; not blobs yet. */
const UNFINISHED = '.unfinished';
const MOST_MOVES = 100;

/**
 * Blobs as files in a folder, each under its key. A blob is written beside, synced, then
 * renamed: it is whole or absent.
 */
export class FsBlobStore extends BlobAdapter {
  constructor(private readonly folder: string) {
    super();
  }

  protected async put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const target = this.#path(key);
    const draft = join(this.folder, UNFINISHED, randomUUID());
    await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
    let size = 0;
    const counted = async function* () {
      for await (const chunk of bytes) {
        size += chunk.byteLength;
        yield chunk;
      }
    };
    try {
      await writeFile(draft, counted(), { flag: 'wx', mode: 0o600, flush: true });
      await moveInto(draft, target);
      await syncFolder(dirname(target));
      return size;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  protected async *get(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    const stream = createReadStream(this.#path(key), range && { start: range.from, end: range.to });
    try {
      for await (const chunk of stream) yield chunk as Buffer;
    } catch (error) {
      throw isAbsent(error) ? new BlobMissing(key) : error;
    }
  }

  protected async measure(key: string): Promise<number | undefined> {
    return (await ifPresent(stat(this.#path(key))))?.size;
  }

  protected async erase(key: string): Promise<void> {
    const path = this.#path(key);
    await rm(path, { force: true });
    await this.#removeEmptied(dirname(path));
  }

  /**
   * Folders that hold nothing any more would use up inodes for ever. One that a writer
   * fills meanwhile stays.
   */
  async #removeEmptied(emptied: string) {
    for (let folder = emptied; folder.startsWith(this.folder + sep); folder = dirname(folder)) {
      const removed = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!removed) return;
    }
  }

  protected async *list(prefix: string): AsyncIterable<{ key: string; writtenAtMs: number }> {
    const folder = join(this.folder, ...prefix.split('/').slice(0, -1));
    for (const path of await filesUnder(folder)) {
      const key = relative(this.folder, path).split(sep).join('/');
      if (!key.startsWith(prefix) || key.startsWith(UNFINISHED)) continue;
      const found = await stat(path).catch(() => undefined);
      if (found) yield { key, writtenAtMs: found.mtimeMs };
    }
  }

  /** A draft that still grows is younger than its last byte. */
  removeDrafts(beforeMs: number): Promise<number> {
    return orStorageProblem(this.#removeDrafts(beforeMs));
  }

  async #removeDrafts(beforeMs: number): Promise<number> {
    const drafts = await filesUnder(join(this.folder, UNFINISHED));
    let removed = 0;
    for (const draft of drafts) {
      const found = await stat(draft).catch(() => undefined);
      if (!found || found.mtimeMs >= beforeMs) continue;
      await rm(draft, { force: true });
      removed += 1;
    }
    return removed;
  }

  #path(key: string) {
    return join(this.folder, key);
  }
}

/**
 * The folder of the target may be removed as empty between making it and moving into it:
 * then it is made again.
 */
async function moveInto(draft: string, target: string) {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 }).catch(retriable);
    const failure = await rename(draft, target).then(() => undefined, retriable);
    if (failure === undefined) return;
    if (attempt === MOST_MOVES) throw failure as Error;
  }
}

/** `mkdir` says ENOTDIR of a folder that is removed while it looks at it. */
function retriable(error: unknown) {
  if (isAbsent(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return error;
  throw error;
}
