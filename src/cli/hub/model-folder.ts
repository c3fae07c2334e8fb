import { lstat, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { writing } from './disk-space.js';
import { HubError } from './hub-error.js';
import { isAlive } from '../../platform/process/is-alive.js';

/**
 * One pull per folder: two would write into the same partial files. A lock whose process
 * is gone is taken over.
 * @throws HubError `order` naming the process that holds it
 */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const path = join(folder, LOCK_NAME);
  const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
  if (holder > 0 && isAlive(holder)) throw busy(folder, holder);
  await rm(path, { force: true });
  await writing(path, () =>
    writeFile(path, String(process.pid), { flag: 'wx' }).catch((error: unknown) => {
      throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? busy(folder) : error;
    }),
  );
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

const busy = (folder: string, pid?: number): HubError =>
  new HubError(
    'order',
    `another pull${pid ? ` (process ${pid})` : ''} is filling ${folder}`,
  );

export interface ManifestFile {
  readonly path: string;
  /** Unknown until it came, where the source does not say. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
}

/**
 * `switchyard-model.json` in the folder of a model: what was pulled, from where. A web
 * server can offer the folder by it.
 */
export interface PullManifest {
  /** As `models pull` takes it. */
  readonly source: string;
  /** Commit of the repository, or `url`. */
  readonly revision: string;
  /** The patterns it was pulled with; empty: every file. */
  readonly include?: readonly string[];
  /** False from the first byte until all files are there and checked. */
  readonly complete: boolean;
  readonly files: readonly ManifestFile[];
}

/** @returns undefined when there is none, or none that can be read */
export async function readManifest(folder: string): Promise<PullManifest | undefined> {
  const manifest = await readJson<PullManifest>(join(folder, MANIFEST_NAME));
  try {
    for (const { path } of manifest!.files) safeFilePath(path);
    return manifest;
  } catch {
    return undefined;
  }
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

/** Of all files in a folder; 0 when there is none. */
export async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  const files = entries.filter(entry => entry.isFile());
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) => sizeOnDisk(join(parentPath, name))),
  );
  return sizes.reduce<number>((total, size) => total + (size ?? 0), 0);
}

/**
 * Whole or not at all: a reader finds the one before or this one. @throws HubError naming
 * the path, such as for a full disk
 */
export async function writeManifest(
  folder: string,
  manifest: PullManifest,
): Promise<void> {
  const path = join(folder, MANIFEST_NAME);
  await writing(path, async () => {
    await writeFile(`${path}.partial`, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(`${path}.partial`, path);
  });
}

/**
 * Written by us beside the files of a model; the same names from a server are left
 * out or refused.
 */
export const MANIFEST_NAME = 'switchyard-model.json';
const LOCK_NAME = '.switchyard-pull.lock';
export const PARTIAL_SUFFIX = '.partial';

/**
 * A file name as a server gave it, when it stays inside the model's folder
 * on every system.
 * @throws HubError `refused` for absolute names, `..`, backslashes, drive letters,
 *   control characters and our own
 * names.
 */
export function safeFilePath(name: unknown): string {
  if (typeof name !== 'string')
    throw new HubError('refused', 'the server names a file that has no text as its name');
  const parts = name.split('/');
  const isSafe =
    parts.every(part => !BAD_PARTS.includes(part) && !part.endsWith(PARTIAL_SUFFIX)) &&
    !/[\\:\u0000-\u001f\u007f]/.test(name) &&
    parts[0] !== LOCK_NAME &&
    name.length <= 1024;
  if (isSafe) return name;
  throw new HubError(
    'refused',
    `the server names a file ${JSON.stringify(name)}, which may not be written; nothing was`,
  );
}

const BAD_PARTS = ['', '.', '..'];

/**
 * `*.onnx` means files of any folder, `onnx/*` those of that folder, `onnx/**` all below
 * it. No pattern: every file.
 */
export function isIncluded(path: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  return patterns.some(pattern =>
    posix.matchesGlob(pattern.includes('/') ? path : posix.basename(path), pattern),
  );
}

/**
 * Where `path` lies inside `folder`.
 * @throws HubError `refused` when a folder on the way is a link: what it points to
 *   is not ours.
 */
export async function placeInside(folder: string, path: string): Promise<string> {
  const parents = path.split('/').slice(0, -1);
  for (let depth = 1; depth <= parents.length; depth++) {
    const place = join(folder, ...parents.slice(0, depth));
    const entry = await lstat(place).catch(() => undefined);
    if (entry?.isSymbolicLink())
      throw new HubError(
        'refused',
        `${place} is a link; model files are not written through links`,
      );
  }
  return join(folder, ...path.split('/'));
}
