import { type Hash } from 'node:crypto';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export const isAbsent = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ENOENT';

/** What `work` resolves with; undefined: its file or folder does not exist. */
export const ifPresent = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });

/** Paths of all files in a folder and below it; none where it does not exist. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await ifPresent(readdir(folder, { recursive: true, withFileTypes: true }));
  const files = entries?.filter(entry => entry.isFile()) ?? [];
  return files.map(entry => join(entry.parentPath, entry.name));
}

/** One `write` may take less than it was given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength;) at += (await file.write(bytes, at)).bytesWritten;
}

/** Makes new and renamed entries of a folder durable. One that is gone has none. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await ifPresent(open(path, 'r'));
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}

const CHUNK_BYTES = 262_144;

/** Joins small pieces to chunks of about `CHUNK_BYTES`. */
export async function* chunked(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.byteLength;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

/** Passes the bytes on and adds them to the digest. */
export async function* hashed(
  source: AsyncIterable<Uint8Array>,
  digest: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    digest.update(chunk);
    yield chunk;
  }
}
