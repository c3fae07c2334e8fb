import { mkdir, rm } from 'node:fs/promises';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { REAL_TIMING, type RetryTiming } from '../../platform/http/retry-timing.js';
import { demandSpace, writeFailure } from './disk-space.js';
import { digestFile } from './file-digest.js';
import { type DownloadContext, FileDownload } from './file-download.js';
import {
  type FileListing,
  type ListedFile,
  listFiles,
  type ListingRequest,
} from './file-listing.js';
import {
  lockFolder,
  type ManifestFile,
  placeInside,
  type PullManifest,
  readManifest,
  writeManifest,
} from './model-folder.js';
import { HubError } from './hub-error.js';
import { sourceText } from './model-source.js';
import { PartialFile, sizeOnDisk } from './partial-file.js';

/** Attempts in a row that bring nothing; a download that moves on is never given up. */
const FRUITLESS_ATTEMPTS = 5;
const OWN_WAITS = { firstMs: 1000, longestMs: 30_000 };
/** A server that asks for more wants the person to come back, not the program. */
const LONGEST_ASKED_WAIT_MS = 300_000;

export interface RetriedPull<T> {
  readonly attempt: () => Promise<T>;
  /** Did the last attempt bring anything? */
  readonly progressed: () => boolean;
  readonly waiting: (ms: number, why: string) => void;
  readonly signal: AbortSignal;
  readonly timing: RetryTiming;
}

/** @throws what the last attempt threw; the abort's reason */
export async function withPullRetries<T>({
  attempt,
  progressed,
  waiting,
  signal,
  timing,
}: RetriedPull<T>): Promise<T> {
  for (let fruitless = 0; ;) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError) || !error.transient) throw error;
      fruitless = progressed() ? 1 : fruitless + 1;
      const ms = waitMs(fruitless, error.retryAfterMs, timing);
      if (fruitless >= FRUITLESS_ATTEMPTS || ms > LONGEST_ASKED_WAIT_MS) throw error;
      waiting(ms, error.message);
      await timing.sleep(ms, signal);
    }
  }
}

function waitMs(
  fruitless: number,
  askedMs: number | undefined,
  timing: RetryTiming,
): number {
  if (askedMs !== undefined) return askedMs;
  return Math.round(backoffMs(fruitless, OWN_WAITS, () => timing.random()));
}

/**
 * Files at the same time: enough to hide the pauses between small ones, no more than a
 * shared line bears.
 */
const PARALLEL_FILES = 2;

export interface PullRequest extends ListingRequest {
  /** The model's own folder; made when missing. */
  readonly folder: string;
}

export interface PullContext extends DownloadContext {
  readonly timing?: RetryTiming;
  readonly freeBytes?: (folder: string) => Promise<number>;
}

interface SurveyedFile {
  readonly listed: ListedFile;
  readonly target: string;
  /** Its sha256 when the right file is there already. */
  readonly present: ManifestFile | undefined;
  /** Bytes of an earlier attempt. */
  readonly partial: number;
}

/**
 * Brings all files of a source into one folder: only what is missing, each whole and
 * checked or not at all.
 * @throws HubError; the abort's reason. What came so far stays, and the next
 *   pull resumes there.
 */
export async function pullModel(
  order: PullRequest,
  context: PullContext,
): Promise<PullManifest> {
  const { folder } = order;
  const listing = await withPullRetries({
    attempt: () => listFiles(context.http, order, context.signal),
    progressed: () => false,
    waiting: (ms, why) =>
      context.observe({ type: 'waiting', path: sourceText(order.source), ms, why }),
    signal: context.signal,
    timing: context.timing ?? REAL_TIMING,
  });
  await mkdir(folder, { recursive: true }).catch((error: unknown) =>
    Promise.reject(writeFailure(error, folder)),
  );
  await using _lock = await lockFolder(folder);
  const before = await readManifest(folder);
  const surveyed = await survey(listing, { order, before, signal: context.signal });
  await announce(surveyed, order, context);
  const manifest = (files: readonly ManifestFile[], complete: boolean): PullManifest => ({
    ...{
      source: sourceText(order.source),
      revision: listing.revision,
      include: order.include,
      complete,
    },
    files: [...kept(before, sourceText(order.source), listing), ...files],
  });
  await writeManifest(
    folder,
    manifest(
      surveyed.map(({ listed, present }) => present ?? expected(listed)),
      false,
    ),
  );
  const files = await bringAll(surveyed, context);
  const whole = manifest(files, true);
  await removeStale(folder, before, whole);
  await writeManifest(folder, whole);
  return whole;
}

const expected = ({ path, size, digest }: ListedFile): ManifestFile => ({
  path,
  size,
  sha256: digest?.algorithm === 'sha256' ? digest.hex : undefined,
});

async function survey(
  { files }: FileListing,
  {
    order,
    before,
    signal,
  }: { order: PullRequest; before: PullManifest | undefined; signal: AbortSignal },
): Promise<readonly SurveyedFile[]> {
  const found: SurveyedFile[] = [];
  for (const listed of files) {
    const target = await placeInside(order.folder, listed.path);
    const present = await presentFile(listed, target, { order, before, signal });
    const partial = present ? 0 : (await new PartialFile(target).resumable(listed)).bytes;
    found.push({ listed, target, present, partial });
  }
  return found;
}

/**
 * There, and the right one: by its digest; where the source names none, by what was
 * written down when it came.
 */
async function presentFile(
  { path, size, digest }: ListedFile,
  target: string,
  {
    order,
    before,
    signal,
  }: { order: PullRequest; before: PullManifest | undefined; signal: AbortSignal },
): Promise<ManifestFile | undefined> {
  const bytes = await sizeOnDisk(target);
  if (bytes === undefined || (size !== undefined && bytes !== size)) return undefined;
  const noted =
    before?.source === sourceText(order.source) &&
    before.files.find(file => file.path === path)?.sha256;
  const wanted =
    digest ?? (noted ? { algorithm: 'sha256' as const, hex: noted } : undefined);
  if (!wanted) return undefined;
  const { sha256, matches } = await digestFile(target, wanted, signal);
  return matches ? { path, size: bytes, sha256 } : undefined;
}

async function announce(
  surveyed: readonly SurveyedFile[],
  { folder }: PullRequest,
  context: PullContext,
): Promise<void> {
  const sizes = surveyed.map(({ listed, present }) => present?.size ?? listed.size);
  const bytes = sizes.every(size => size !== undefined) ? sum(sizes) : undefined;
  const presentBytes = sum(
    surveyed.map(({ present, partial }) => present?.size ?? partial),
  );
  context.observe({
    type: 'planned',
    files: surveyed.length,
    bytes,
    presentBytes,
    folder,
  });
  const missing = surveyed.filter(({ present }) => !present);
  await demandSpace(
    folder,
    sum(missing.map(({ listed, partial }) => (listed.size ?? 0) - partial)),
    context.freeBytes,
  );
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, one) => total + one, 0);

/** Side by side; the first that fails stops the others, whose beginnings stay. */
async function bringAll(
  surveyed: readonly SurveyedFile[],
  context: PullContext,
): Promise<readonly ManifestFile[]> {
  const brought: ManifestFile[] = [];
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const waiting = [...surveyed.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, file] = next;
      brought[index] = await bring(file, { ...context, signal });
    }
  };
  const lanes = Array.from({ length: PARALLEL_FILES }, () =>
    lane().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  // Waits for all of them, so that nothing writes any more when the caller hears
  // of the failure.
  await Promise.allSettled(lanes);
  context.signal.throwIfAborted();
  if (failed.signal.aborted) throw failed.signal.reason;
  return brought;
}

async function bring(
  { listed, target, present }: SurveyedFile,
  context: PullContext,
): Promise<ManifestFile> {
  const { path } = listed;
  if (present) {
    context.observe({ type: 'done', path, size: present.size ?? 0, already: true });
    return present;
  }
  const download = new FileDownload(listed, target, context);
  const { size, sha256 } = await withPullRetries({
    attempt: () => download.attempt(),
    progressed: () => download.received > 0,
    waiting: (ms, why) => context.observe({ type: 'waiting', path, ms, why }),
    signal: context.signal,
    timing: context.timing ?? REAL_TIMING,
  });
  context.observe({ type: 'done', path, size, already: false });
  return { path, size, sha256 };
}

/**
 * Files of an earlier pull of the same revision with other patterns stay part
 * of the model.
 */
function kept(
  before: PullManifest | undefined,
  source: string,
  { revision, files }: FileListing,
): readonly ManifestFile[] {
  if (before?.revision !== revision || before.source !== source) return [];
  return before.files.filter(({ path }) => !files.some(file => file.path === path));
}

/** A file that only the old revision had would be loaded beside the new ones. */
async function removeStale(
  folder: string,
  before: PullManifest | undefined,
  now: PullManifest,
): Promise<void> {
  const stale =
    before?.files.filter(({ path }) => !now.files.some(file => file.path === path)) ?? [];
  for (const { path } of stale)
    await rm(await placeInside(folder, path), { force: true });
}
