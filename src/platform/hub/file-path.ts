import { lstat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { HubError } from './hub-error.js';

/** Written by us beside the files of a model; the same names from a server are left out or refused. */
export const MANIFEST_NAME = 'switchyard-model.json';
export const LOCK_NAME = '.switchyard-pull.lock';
export const PARTIAL_SUFFIX = '.partial';

/**
 * A file name as a server gave it, when it stays inside the model's folder on every system.
 * @throws HubError `refused` for absolute names, `..`, backslashes, drive letters, control characters and our own names.
 */
export function safeFilePath(name: string): string {
  const parts = name.split('/');
  const bad = parts.some(part => part === '' || part === '.' || part === '..' || part.endsWith(PARTIAL_SUFFIX));
  if (bad || /[\\:\u0000-\u001f\u007f]/.test(name) || parts[0] === LOCK_NAME || name.length > 1024) {
    throw new HubError(
      'refused',
      `the server names a file ${JSON.stringify(name)}, which may not be written; nothing was`,
    );
  }
  return parts.join('/');
}

/** `*.onnx` means files of any folder, `onnx/*` those of that folder, `onnx/**` all below it. No pattern: every file. */
export function included(path: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  return patterns.some(pattern => posix.matchesGlob(pattern.includes('/') ? path : posix.basename(path), pattern));
}

/**
 * Where `path` lies inside `folder`.
 * @throws HubError `refused` when a folder on the way is a link: what it points to is not ours.
 */
export async function placeInside(folder: string, path: string): Promise<string> {
  const parents = path.split('/').slice(0, -1);
  for (let depth = 1; depth <= parents.length; depth++) {
    const place = join(folder, ...parents.slice(0, depth));
    const entry = await lstat(place).catch(() => undefined);
    if (entry?.isSymbolicLink())
      throw new HubError('refused', `${place} is a link; model files are not written through links`);
  }
  return join(folder, ...path.split('/'));
}
