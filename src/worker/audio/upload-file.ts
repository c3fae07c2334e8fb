import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * An upload as an open, seekable file without a name. ffmpeg finds no samples in an m4a with its index at the end when it
 * comes through a pipe (ENGINES "ffmpeg"); a file that is unlinked while it is still empty leaves nothing behind, even when this
 * process is killed, and nobody else can open it.
 */
export async function openUpload(bytes: Uint8Array): Promise<FileHandle> {
  const file = await openUnnamed();
  try {
    await file.writeFile(bytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** @throws the system's error */
export async function openUnnamed(): Promise<FileHandle> {
  // mkdtemp makes the folder with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-audio-'));
  try {
    const path = join(folder, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  } finally {
    await rmdir(folder);
  }
}
