import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, rm, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep, posix } from 'node:path';
import { isAlive } from '../../platform/process/is-alive.js';
import { writing } from './disk-space.js';
import { HubError } from './hub-error.js';

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

const busy = (folder: string, pid?: number) =>
  new HubError(
    'order',
    `another pull${pid ? ` (process ${pid})` : ''} is filling ${folder}`,
  );

export interface ManifestFile {
  readonly path: string;
  /** Unknown until it came, where the source does not say. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
  /** Where a server that offers the folder has it; absent: beside the manifest. */
  readonly url?: string;
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

/** What a file must hash to. */
export interface ExpectedDigest {
  readonly hex: string;
  /**
   * Bytes of the file, where `hex` is what git calls it (`blob SIZE\0` + bytes, SHA-1),
   * as hubs give for small files. Undefined: `hex` is its sha256.
   */
  readonly gitSize?: number;
}

export const sha256Of = (digest: ExpectedDigest | undefined): string | undefined =>
  digest?.gitSize === undefined ? digest?.hex : undefined;

/**
 * Hashes bytes as they come: always sha256, for the manifest, and what
 * is expected besides.
 */
export class FileDigest {
  readonly #sha256 = createHash('sha256');
  readonly #git;

  constructor(private readonly expected: ExpectedDigest | undefined) {
    if (expected?.gitSize !== undefined)
      this.#git = createHash('sha1').update(`blob ${expected.gitSize}\0`);
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#git?.update(chunk);
  }

  /** Once, at the end. `matches` is undefined when nothing is expected. */
  finish(): { readonly sha256: string; readonly matches: boolean | undefined } {
    const sha256 = this.#sha256.digest('hex');
    if (!this.expected) return { sha256, matches: undefined };
    const found = this.#git?.digest('hex') ?? sha256;
    return { sha256, matches: found === this.expected.hex.toLowerCase() };
  }
}

/** Reads the whole file. @throws the file system's error, such as ENOENT */
export async function digestFile(
  path: string,
  expected: ExpectedDigest | undefined,
  signal?: AbortSignal,
): Promise<FileDigest> {
  const digest = new FileDigest(expected);
  for await (const chunk of createReadStream(path, { signal }))
    digest.update(chunk as Buffer);
  return digest;
}

/** One folder of models on disk. */
export interface StoredModel {
  readonly name: string;
  readonly folder: string;
  /** Of all files in it, unfinished ones included. */
  readonly bytes: number;
  /** `by hand`: there is no manifest to check it against. */
  readonly state: 'complete' | 'incomplete' | 'by hand';
  readonly manifest: PullManifest | undefined;
}

/** A file of a manifest that is not as it was pulled. */
interface FileFinding {
  readonly path: string;
  readonly problem: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;

/**
 * The folder of pulled models (`hub.models_dir`): one folder per model, each
 * with its manifest.
 */
export class ModelStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  /** @throws HubError `order` for names that are no single folder */
  folderOf(name: string): string {
    if (NAME.test(name)) return join(this.folder, name);
    throw new HubError(
      'order',
      `"${name}" is no name for a model folder; allowed: letters, digits and . _ -, at most 128`,
    );
  }

  async list(): Promise<readonly StoredModel[]> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    const names = entries
      .filter(entry => entry.isDirectory() && NAME.test(entry.name))
      .map(({ name }) => name);
    return Promise.all(names.sort().map(name => this.read(name)));
  }

  async read(name: string): Promise<StoredModel> {
    const folder = this.folderOf(name);
    const manifest = await readManifest(folder);
    const state =
      manifest === undefined ? 'by hand' : manifest.complete ? 'complete' : 'incomplete';
    return { name, folder, manifest, state, bytes: await bytesBelow(folder) };
  }

  /** Name of the model whose folder `path` is, or is in. */
  nameOf(path: string): string | undefined {
    const inside = relative(this.folder, resolve(path));
    const [name = ''] = inside.split(sep);
    return NAME.test(name) ? name : undefined;
  }

  /**
   * @throws HubError `not_found`; `refused` for a link: what it points to is not
   *   ours to delete
   */
  async remove(name: string): Promise<void> {
    const folder = this.folderOf(name);
    const entry = await lstat(folder).catch(() => undefined);
    if (!entry)
      throw new HubError('not_found', `there is no model ${name} in ${this.folder}`);
    if (!entry.isDirectory())
      throw new HubError(
        'refused',
        `${folder} is no folder of a pulled model; nothing was removed`,
      );
    await rm(folder, { recursive: true });
  }
}

/**
 * Compares a folder with its manifest: presence and size, and with
 * `checksums` every byte.
 */
export async function findingsOf(
  folder: string,
  { files }: PullManifest,
  options: { readonly checksums: boolean; readonly signal?: AbortSignal },
): Promise<readonly FileFinding[]> {
  const findings: FileFinding[] = [];
  for (const file of files) {
    const problem = await problemOf(await placeInside(folder, file.path), file, options);
    if (problem !== undefined) findings.push({ path: file.path, problem });
  }
  return findings;
}

async function problemOf(
  path: string,
  { size, sha256 }: ManifestFile,
  { checksums, signal }: { readonly checksums: boolean; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const bytes = await sizeOnDisk(path);
  if (bytes === undefined) return 'is missing';
  if (size !== undefined && bytes !== size)
    return `has ${bytes} bytes, ${size} were pulled`;
  if (!checksums || sha256 === undefined) return undefined;
  const digest = await digestFile(path, { hex: sha256 }, signal);
  if (digest.finish().matches) return undefined;
  return 'has another checksum than when it was pulled';
}
