import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { readFields } from '@switchyard/engine-api/field-problems.js';
import {
  ANY_TEXT,
  listOf,
  matching,
  numberFrom,
  objectOf,
  oneOf,
  TEXT,
  orNull,
} from '@switchyard/engine-api/rules.js';
import { extract, pack } from 'tar-stream';
import { leadingBytes } from '../../../platform/http/leading-bytes.js';
import { hashed } from '../../../platform/storage/durable-files.js';
import { CliError } from '../../shared/cli-error.js';

/** The last file of an archive: without it, the archive is not whole. */
const MANIFEST = 'manifest.json';
const MANIFEST_MOST_BYTES = 1024 ** 3;

const ARCHIVED_FILE = objectOf({
  /** `database`, `blobs/<key>`, or the setting that names the file. */
  name: matching(/^(?!.*\.\.)[a-z0-9][\w./-]*$/, 'a name inside the archive'),
  bytes: numberFrom(0, Number.MAX_SAFE_INTEGER),
  sha256: matching(/^[0-9a-f]{64}$/, '64 hexadecimal digits'),
});

const MANIFEST_RULE = objectOf({
  format: oneOf([1]),
  /** Version of the product that made it. */
  version: TEXT,
  created: TEXT,
  /** The last migration of the database; null: PostgreSQL, which is not in it. */
  schema: orNull(TEXT),
  not_included: listOf(ANY_TEXT, 'sentences'),
  files: listOf(ARCHIVED_FILE, 'files'),
});

type ArchivedFile = ReturnType<typeof ARCHIVED_FILE.parse>;
export type BackupManifest = ReturnType<typeof MANIFEST_RULE.parse>;

/** What an archive records before its files. */
type ManifestHead = Omit<BackupManifest, 'format' | 'files'>;

/**
 * Writes a tar archive of mode 0600, the manifest last.
 * @param sources name in the archive and path; they do not change meanwhile
 * @param onBytes hears how many bytes were added
 */
export async function writeArchive(
  path: string,
  head: ManifestHead,
  sources: readonly (readonly [name: string, path: string])[],
  onBytes: (count: number) => void,
  signal: AbortSignal,
): Promise<BackupManifest> {
  const archive = pack();
  const written = pipeline(
    archive,
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  );
  // Told below, by the entry that it breaks off.
  written.catch(() => undefined);
  const files: ArchivedFile[] = [];
  for (const [name, source] of sources) {
    const { size, mtime } = await stat(source);
    const digest = createHash('sha256');
    const entry = archive.entry({ name, size, mtime, mode: 0o600 });
    const bytes = counted(hashed(createReadStream(source), digest), onBytes);
    await pipeline(bytes, entry, { signal });
    files.push({ name, bytes: size, sha256: digest.digest('hex') });
  }
  const manifest = { format: 1 as const, ...head, files };
  archive.entry({ name: MANIFEST, mode: 0o600 }, writeJson(manifest, 2));
  archive.finalize();
  await written;
  return manifest;
}

/** Passes the bytes on and tells how many. */
export async function* counted(
  source: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onBytes(chunk.byteLength);
    yield chunk;
  }
}

/** Hears of each file of an archive, and reads its bytes to their end. */
export type ArchiveVisitor = (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Reads the whole archive.
 * @returns what it holds, once each file has the size and the hash that the manifest says
 * @throws CliError where it is not whole, changed or no archive of this product
 */
export async function readArchive(
  path: string,
  visit: ArchiveVisitor,
  signal: AbortSignal,
): Promise<BackupManifest> {
  const found = new Map<string, ArchivedFile>();
  let manifest: unknown;
  const files = extract();
  const read = pipeline(createReadStream(path), files, { signal }).catch((cause: unknown) => {
    throw broken(path, cause);
  });
  read.catch(() => undefined);
  try {
    for await (const entry of files) {
      const { name } = entry.header;
      if (name === MANIFEST) manifest = await jsonOf(entry);
      else if (!ARCHIVED_FILE.shape.name.safeParse(name).success || found.has(name))
        throw broken(path, `it has the file ${writeJson(name)}`);
      else found.set(name, await visited(name, entry, visit));
    }
  } catch (error) {
    await read;
    throw error;
  }
  await read;
  return checked(path, manifest, found);
}

async function visited(name: string, entry: AsyncIterable<Uint8Array>, visit: ArchiveVisitor) {
  const digest = createHash('sha256');
  let bytes = 0;
  await visit(
    name,
    counted(hashed(entry, digest), count => (bytes += count)),
  );
  return { name, bytes, sha256: digest.digest('hex') };
}

async function jsonOf(entry: AsyncIterable<Uint8Array>): Promise<unknown> {
  const text = await leadingBytes(entry, MANIFEST_MOST_BYTES + 1);
  if (text.length > MANIFEST_MOST_BYTES) return undefined;
  return parseBoundedJson(text.toString(), STORED_BOUNDS);
}

function checked(
  path: string,
  written: unknown,
  found: ReadonlyMap<string, ArchivedFile>,
): BackupManifest {
  if (written === undefined)
    throw broken(path, 'it has no manifest: the backup was not made to its end');
  const { data: manifest, problems } = readFields(MANIFEST_RULE, written);
  if (!manifest) throw broken(path, `its manifest is not one: ${problems[0]?.message ?? ''}`);
  for (const { name, bytes, sha256 } of manifest.files) {
    const file = found.get(name);
    if (!file) throw broken(path, `${name} is missing`);
    if (file.bytes !== bytes || file.sha256 !== sha256)
      throw broken(path, `${name} is not what the manifest says`);
  }
  if (found.size !== manifest.files.length)
    throw broken(path, 'it has files that the manifest does not name');
  return manifest;
}

const broken = (path: string, why: unknown): CliError =>
  why instanceof CliError
    ? why
    : new CliError(
        `${path} is damaged or no backup of Switchyard: ${why instanceof Error ? why.message : String(why)}. ` +
          'Nothing was written.',
        undefined,
        { cause: why },
      );
