import { lstat, readdir, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { digestFile } from './file-digest.js';
import {
  bytesBelow,
  type ManifestFile,
  placeInside,
  type PullManifest,
  readManifest,
  sizeOnDisk,
} from './model-folder.js';
import { HubError } from './hub-error.js';

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
