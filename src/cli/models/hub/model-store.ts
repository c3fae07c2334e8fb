import { lstat, readdir, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { filesUnder } from '../../../platform/storage/durable-files.js';
import { HubError } from './hub-error.js';
import { digestFile, PARTIAL_SUFFIX, readJson, sizeOnDisk } from './partial-file.js';

/**
 * `switchyard-model.json` in the folder of a model: what was pulled, from where. A web
 * server can offer the folder by it.
 */
export interface PullManifest {
  /** The source, as `models pull` takes it. */
  readonly source: string;
  /** Commit of the repository, or `url`. */
  readonly revision: string;
  /** The patterns it was pulled with; empty: every file. */
  readonly include?: readonly string[];
  /** False from the first byte until all files are there and checked. */
  readonly complete: boolean;
  readonly files: readonly {
    readonly path: string;
    /** Bytes; absent until the file arrived, where the source does not say. */
    readonly size?: number | undefined;
    readonly sha256?: string | undefined;
    /** Where a server that offers the folder has it; absent: beside the manifest. */
    readonly url?: string;
  }[];
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

/** Bytes of all files in a folder; 0 without a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  const files = await filesUnder(folder).catch(() => []);
  const sizes = await Promise.all(files.map(sizeOnDisk));
  return sizes.reduce<number>((total, size) => total + (size ?? 0), 0);
}

/**
 * Written by us beside the files of a model; the same names from a server are left
 * out or refused.
 */
export const MANIFEST_NAME = 'switchyard-model.json';
export const LOCK_NAME = '.switchyard-pull.lock';

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
    `the server names a file ${writeJson(name)}, which may not be written; nothing was`,
  );
}

const BAD_PARTS = ['', '.', '..'];

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

/** One folder of models on disk. */
export interface StoredModel {
  readonly name: string;
  readonly folder: string;
  /** Bytes of all files in it, unfinished ones included. */
  readonly bytes: number;
  /** `by hand`: it has no manifest to be checked against. */
  readonly state: 'complete' | 'incomplete' | 'by hand';
  readonly manifest: PullManifest | undefined;
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
    if (!entry) throw new HubError('not_found', `there is no model ${name} in ${this.folder}`);
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
 * `checksums` every byte. @returns the files that are not as they were pulled
 */
export async function findingsOf(
  folder: string,
  { files }: PullManifest,
  options: { readonly checksums: boolean; readonly signal?: AbortSignal },
): Promise<readonly { readonly path: string; readonly problem: string }[]> {
  const findings = [];
  for (const file of files) {
    const problem = await problemOf(await placeInside(folder, file.path), file, options);
    if (problem !== undefined) findings.push({ path: file.path, problem });
  }
  return findings;
}

async function problemOf(
  path: string,
  { size, sha256 }: PullManifest['files'][number],
  { checksums, signal }: { readonly checksums: boolean; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const bytes = await sizeOnDisk(path);
  if (bytes === undefined) return 'is missing';
  if (size !== undefined && bytes !== size) return `has ${bytes} bytes, ${size} were pulled`;
  if (!checksums || sha256 === undefined) return undefined;
  const digest = await digestFile(path, { sha256 }, signal);
  if (digest.finish().matches) return undefined;
  return 'has another checksum than when it was pulled';
}
