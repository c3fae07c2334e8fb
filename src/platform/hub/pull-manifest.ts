import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFailure } from './disk-space.js';
import { MANIFEST_NAME, safeFilePath } from './file-path.js';

export interface ManifestFile {
  readonly path: string;
  /** Unknown until it came, where the source does not say. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
}

/** `switchyard-model.json` in the folder of a model: what was pulled, from where. A web server can offer the folder by it. */
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
  try {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST_NAME), 'utf8')) as PullManifest;
    for (const { path } of manifest.files) safeFilePath(path);
    return manifest;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a reader finds the one before or this one. @throws HubError naming the path, such as for a full disk */
export async function writeManifest(folder: string, manifest: PullManifest): Promise<void> {
  const path = join(folder, MANIFEST_NAME);
  try {
    await writeFile(`${path}.partial`, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(`${path}.partial`, path);
  } catch (error) {
    throw writeFailure(error, path);
  }
}
