import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { HubError } from './hub-error.js';
import { type HubHttp } from './hub-http.js';
import { type ModelSource, sourceText, urlFileName } from './model-source.js';
import { MANIFEST_NAME, safeFilePath, type PullManifest } from './model-store.js';
import { type ListedFile } from './partial-file.js';

interface FileListing {
  /** The commit of a repository; `url` for files that have none. */
  readonly revision: string;
  readonly files: readonly ListedFile[];
}

/** What is wanted of a source. */
export interface ListingRequest {
  readonly source: ModelSource;
  /** Patterns; empty: every file. */
  readonly include: readonly string[];
  /**
   * Exact names or patterns, with size and checksum as far as they are known.
   * Goes before `include`.
   */
  readonly expected?: Readonly<
    Record<string, { readonly bytes?: number; readonly sha256?: string }>
  >;
  /** Of the one file that is wanted; of a manifest, when the source is one. */
  readonly sha256?: string | undefined;
}

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

/** What the source offers, less what the patterns leave out. @throws HubError */
export async function listFiles(
  http: HubHttp,
  order: ListingRequest,
  signal: AbortSignal,
): Promise<FileListing> {
  const listing = await offered(http, order, signal);
  const files = order.expected
    ? expectedFiles(listing, order)
    : included(listing.files, order.include);
  // Some file systems do not distinguish `A` from `a`.
  const names = new Set<string>();
  for (const { path } of files)
    if (names.size === names.add(path.toLowerCase()).size)
      throw new HubError('refused', `the server names ${path} twice`);
  const { revision } = listing;
  return {
    revision,
    files: order.source.kind === 'url' ? files : withSha256(files, order.sha256),
  };
}

function included(
  files: readonly ListedFile[],
  patterns: readonly string[],
): readonly ListedFile[] {
  const wanted = files.filter(({ path }) => isIncluded(path, patterns));
  if (wanted.length > 0) return wanted;
  throw new HubError(
    'order',
    `--include ${patterns.join(' ')} matches none of ${files.length} files: ${firstNames(files)}`,
  );
}

const firstNames = (files: readonly ListedFile[]) =>
  files
    .slice(0, 20)
    .map(({ path }) => path)
    .join(', ');

/**
 * @throws HubError `refused` for a name that is not there; `checksum` for other bytes
 *   under it. Nothing came yet.
 */
function expectedFiles(
  { files, revision }: FileListing,
  { source, expected = {} }: ListingRequest,
): readonly ListedFile[] {
  return Object.entries(expected).flatMap(([name, { bytes, sha256 }]) => {
    const isPattern = name.includes('*');
    const found = files.filter(({ path }) =>
      isPattern ? isIncluded(path, [name]) : path === name,
    );
    const [file] = found;
    if (!file)
      throw new HubError(
        'refused',
        `${sourceText(source)} has no ${name} at ${revision}; it has ${firstNames(files)}`,
      );
    const { size, sha256: there } = file;
    if (differ(bytes, size) || (there && differ(sha256, there))) {
      const known = `${size} bytes ${there ?? ''}, not ${bytes} ${sha256 ?? ''}`;
      throw new HubError(
        'checksum',
        `${sourceText(source)} has another ${name} than the catalogue names: ${known}`,
      );
    }
    return sha256 === undefined ? found : [{ ...file, sha256 }];
  });
}

const differ = <T>(expected: T | undefined, found: T) =>
  expected !== undefined && expected !== found;

async function offered(
  http: HubHttp,
  { source, sha256 }: ListingRequest,
  signal: AbortSignal,
): Promise<FileListing> {
  if (source.kind === 'hub') return hubListing(http, source, signal);
  if (source.kind !== 'url')
    throw new HubError('order', 'packages come by `models add` and the catalogue only');
  const { url } = source;
  const name = urlFileName(url);
  if (name === MANIFEST_NAME) return manifestListing(await http.text(url, signal), url, sha256);
  return { revision: 'url', files: [{ path: safeFilePath(name), url, sha256 }] };
}

function withSha256(files: readonly ListedFile[], sha256: string | undefined) {
  if (sha256 === undefined) return files;
  const [file, ...others] = files;
  if (file && others.length === 0) return [{ ...file, sha256 }];
  throw new HubError(
    'order',
    `--sha256 is for one file, and this source has ${files.length}; choose one with --include`,
  );
}

/** The answer of the hub's model API with `blobs=true`. */
interface HubModel {
  readonly sha?: string;
  readonly siblings?: readonly {
    readonly rfilename: string;
    readonly size?: number;
    readonly blobId?: string;
    readonly lfs?: { readonly sha256?: string; readonly size?: number };
  }[];
}

async function hubListing(
  http: HubHttp,
  { repository, revision }: Extract<ModelSource, { repository: string }>,
  signal: AbortSignal,
): Promise<FileListing> {
  const { endpoint } = http;
  const api = `${endpoint}/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const model = parsed<HubModel>(await http.text(api, signal), api);
  // The commit, not the branch: what is resumed tomorrow is the file that
  // was begun today.
  const { sha = revision, siblings = [] } = model;
  const place = `${endpoint}/${repository}/resolve/${encodeURIComponent(sha)}`;
  const files = siblings
    .filter(({ rfilename }) => rfilename !== MANIFEST_NAME)
    .map((file): ListedFile => {
      const path = safeFilePath(file.rfilename);
      const { lfs, size, blobId } = file;
      const url = `${place}/${encodedPath(path)}`;
      // Large files have a sha256; git names the others.
      if (lfs) return { path, url, size: lfs.size ?? size, sha256: lfs.sha256 };
      return { path, url, size, gitId: size === undefined ? undefined : blobId };
    });
  if (files.length > 0) return { revision: sha, files };
  throw new HubError('not_found', `${repository} has no files at revision ${revision}`);
}

/**
 * A folder on a plain web server, described by the manifest that `models pull` writes.
 * Any pulled folder can be served.
 */
function manifestListing(text: string, url: string, sha256?: string): FileListing {
  const found = createHash('sha256').update(text).digest('hex');
  if (sha256 !== undefined && found !== sha256.toLowerCase())
    throw new HubError('checksum', `${url} has not the sha256 that was given`);
  const { revision = 'url', files = [] } = parsed<Partial<PullManifest>>(text, url);
  if (files.length === 0) throw new HubError('refused', `${url} names no files`);
  const listed = files.map((file): ListedFile => {
    const path = safeFilePath(file.path);
    const { size, sha256 } = file;
    return { path, url: fileUrl(file.url ?? encodedPath(path), url), size, sha256 };
  });
  return { revision, files: listed };
}

/** Beside the manifest, or anywhere by https. */
function fileUrl(name: string, manifest: string) {
  const url = new URL(name, manifest);
  if (url.protocol === 'https:' || url.origin === new URL(manifest).origin) return url.href;
  throw new HubError(
    'refused',
    `${manifest} names a file at ${url.protocol}//${url.host}; allowed: https, or its own host`,
  );
}

const encodedPath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

function parsed<T extends object>(text: string, url: string): T {
  try {
    const value = parseBoundedJson(text) as T;
    if (isObject(value)) return value;
  } catch {
    // reported below
  }
  throw new HubError(
    'refused',
    `${new URL(url).host} did not answer with JSON; is it a model hub?`,
  );
}
