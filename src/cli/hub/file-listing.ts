import { createHash } from 'node:crypto';
import { type ExpectedDigest } from './file-digest.js';
import { included, MANIFEST_NAME, safeFilePath } from './model-folder.js';
import { HubError } from './hub-error.js';
import { type HubHttp } from './hub-http.js';
import { type ModelSource, sourceText, urlFileName } from './model-source.js';

/** One file that a source offers. */
export interface ListedFile {
  /** Inside the model's folder, with slashes; safe to write. */
  readonly path: string;
  readonly url: string;
  /** Bytes, where the source says. */
  readonly size: number | undefined;
  readonly digest: ExpectedDigest | undefined;
}

export interface FileListing {
  /** The commit of a repository; `url` for files that have none. */
  readonly revision: string;
  readonly files: readonly ListedFile[];
}

export interface ExpectedFile {
  readonly bytes?: number;
  readonly sha256?: string;
}

export interface ListingRequest {
  readonly source: ModelSource;
  readonly include: readonly string[];
  /**
   * Exact names or patterns, with size and checksum as far as they are known.
   * Goes before `include`.
   */
  readonly expected?: Readonly<Record<string, ExpectedFile>>;
  /** Of the one file that is wanted; of a manifest, when the source is one. */
  readonly sha256?: string | undefined;
}

/** What the source offers, less what the patterns leave out. @throws HubError */
export async function listFiles(
  http: HubHttp,
  order: ListingRequest,
  signal: AbortSignal,
): Promise<FileListing> {
  const { revision, files } = await offered(http, order, signal);
  const wanted = order.expected
    ? expectedFiles(files, order, revision)
    : files.filter(({ path }) => included(path, order.include));
  if (wanted.length === 0) {
    const names = files.slice(0, 20).map(({ path }) => path);
    throw new HubError(
      'order',
      `--include ${order.include.join(' ')} matches none of ${files.length} files: ${names.join(', ')}`,
    );
  }
  // Some file systems do not distinguish `A` from `a`.
  const names = new Set<string>();
  const twice = wanted.find(
    ({ path }) => names.size === names.add(path.toLowerCase()).size,
  );
  if (twice) throw new HubError('refused', `the server names ${twice.path} twice`);
  return { revision, files: withSha256(wanted, order) };
}

/**
 * @throws HubError `refused` for a name that is not there; `checksum` for other bytes
 *   under it. Nothing came yet.
 */
function expectedFiles(
  files: readonly ListedFile[],
  { source, expected = {} }: ListingRequest,
  revision: string,
): readonly ListedFile[] {
  return Object.entries(expected).flatMap(([name, { bytes, sha256 }]) => {
    const found = files.filter(
      ({ path }) => path === name || (name.includes('*') && included(path, [name])),
    );
    const [file] = found;
    if (!file) {
      const names = files.slice(0, 20).map(({ path }) => path);
      throw new HubError(
        'refused',
        `${sourceText(source)} has no ${name} at ${revision}; it has ${names.join(', ')}`,
      );
    }
    const there = file.digest?.algorithm === 'sha256' ? file.digest.hex : undefined;
    if ((bytes ?? file.size) !== file.size || (sha256 ?? there) !== (there ?? sha256)) {
      const known = `${file.size} bytes ${there ?? ''}, not ${bytes} ${sha256 ?? ''}`;
      throw new HubError(
        'checksum',
        `${sourceText(source)} has another ${name} than the catalogue names: ${known}`,
      );
    }
    return sha256 === undefined
      ? found
      : [{ ...file, digest: { algorithm: 'sha256' as const, hex: sha256 } }];
  });
}

function offered(
  http: HubHttp,
  order: ListingRequest,
  signal: AbortSignal,
): Promise<FileListing> {
  const { source } = order;
  if (source.kind === 'hub') return hubListing(http, source, signal);
  const name = urlFileName(source.url);
  if (name === MANIFEST_NAME)
    return manifestListing(http, source.url, { signal, sha256: order.sha256 });
  const file = {
    path: safeFilePath(name),
    url: source.url,
    size: undefined,
    digest: undefined,
  };
  return Promise.resolve({ revision: 'url', files: [file] });
}

function withSha256(
  files: readonly ListedFile[],
  { source, sha256 }: ListingRequest,
): readonly ListedFile[] {
  const [file] = files;
  if (
    sha256 === undefined ||
    (source.kind === 'url' && source.url.endsWith(MANIFEST_NAME))
  )
    return files;
  if (file && files.length === 1)
    return [{ ...file, digest: { algorithm: 'sha256', hex: sha256 } }];
  throw new HubError(
    'order',
    `--sha256 is for one file, and this source has ${files.length}; choose one with --include`,
  );
}

/** `siblings` of the hub's model API with `blobs=true`. */
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
  { repository, revision }: ModelSource & { kind: 'hub' },
  signal: AbortSignal,
): Promise<FileListing> {
  const api = `${http.endpoint}/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const { sha = revision, siblings = [] } = parsed(
    await http.text(api, signal),
    api,
  ) as HubModel;
  const files = siblings
    .filter(({ rfilename }) => rfilename !== MANIFEST_NAME)
    .map(({ rfilename, size, blobId, lfs }): ListedFile => {
      const path = safeFilePath(rfilename);
      const bytes = lfs?.size ?? size;
      const git =
        blobId && bytes !== undefined
          ? { algorithm: 'git' as const, hex: blobId, size: bytes }
          : undefined;
      const digest = lfs?.sha256
        ? { algorithm: 'sha256' as const, hex: lfs.sha256 }
        : lfs
          ? undefined
          : git;
      // The commit, not the branch: what is resumed tomorrow is the file that
      // was begun today.
      const url = `${http.endpoint}/${repository}/resolve/${encodeURIComponent(sha)}/${encodedPath(path)}`;
      return { path, url, size: bytes, digest };
    });
  if (files.length === 0)
    throw new HubError('not_found', `${repository} has no files at revision ${revision}`);
  return { revision: sha, files };
}

interface OfferedManifest {
  readonly revision?: string;
  readonly files?: readonly {
    path: string;
    url?: string;
    size?: number;
    sha256?: string;
  }[];
}

/**
 * A folder on a plain web server, described by the manifest that `models pull` writes.
 * Any pulled folder can be served.
 */
async function manifestListing(
  http: HubHttp,
  url: string,
  { signal, sha256 }: { signal: AbortSignal; sha256: string | undefined },
): Promise<FileListing> {
  const text = await http.text(url, signal);
  if (
    sha256 !== undefined &&
    createHash('sha256').update(text).digest('hex') !== sha256.toLowerCase()
  ) {
    throw new HubError('checksum', `${url} has not the sha256 that was given`);
  }
  const { revision = 'url', files = [] } = parsed(text, url) as OfferedManifest;
  const listed = files.map(({ path, url: own, size, sha256: hex }): ListedFile => {
    const safe = safeFilePath(path);
    const digest = hex ? { algorithm: 'sha256' as const, hex } : undefined;
    return { path: safe, url: fileUrl(own ?? encodedPath(safe), url), size, digest };
  });
  if (listed.length === 0) throw new HubError('refused', `${url} names no files`);
  return { revision, files: listed };
}

/** Beside the manifest, or anywhere by https. */
function fileUrl(name: string, manifest: string): string {
  const url = new URL(name, manifest);
  if (url.protocol === 'https:' || url.origin === new URL(manifest).origin)
    return url.href;
  throw new HubError(
    'refused',
    `${manifest} names a file at ${url.protocol}//${url.host}; allowed: https, or its own host`,
  );
}

const encodedPath = (path: string): string =>
  path.split('/').map(encodeURIComponent).join('/');

function parsed(text: string, url: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // reported below
  }
  throw new HubError(
    'refused',
    `${new URL(url).host} did not answer with JSON; is it a model hub?`,
  );
}
