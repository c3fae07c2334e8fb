import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { bornAtMs } from '../../platform/clock/time-ordered-id.js';
import { Settings } from '../../platform/config/settings.js';
import { FileStore, UploadStore } from '../../platform/database/file-store.js';
import { JobStore } from '../../platform/database/job-store.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import {
  FILE_BLOBS,
  JOB_LOG_BLOBS,
  ORPHAN_AGE_MS,
  STORED_REQUEST_BLOBS,
} from '../../platform/storage/blob-keys.js';
import { GARBAGE_BLOBS } from './shared/counted-blobs.js';

/** Rows per statement and keys per query. */
const PORTION = 500;

/**
 * Removes expired files and uploads, unreferenced blobs (left by a crash between
 * writing blob and row), and copied result logs of ended batches. Every gateway
 * does so concurrently.
 */
@Injectable()
export class GarbageCollector
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  readonly #logger = new Logger(GarbageCollector.name);
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    private readonly files: FileStore,
    private readonly uploads: UploadStore,
    private readonly jobs: JobStore,
    private readonly storedRequests: StoredRequestStore,
    @Inject(GARBAGE_BLOBS) private readonly blobs: BlobStore,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.#running = this.#run();
  }

  onModuleDestroy(): void {
    this.#stop.abort();
  }

  /** The stores close after this. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#running;
  }

  /**
   * One round. @param nowMs by the clock of the database. @returns the number of removed objects
   * of each kind
   */
  async collect(
    nowMs: number,
  ): Promise<{ files: number; uploads: number; orphans: number; logs: number }> {
    const files = await this.#expireFiles(nowMs);
    const uploads = await this.#expireUploads(nowMs);
    const beforeMs = nowMs - ORPHAN_AGE_MS;
    const ofFiles = await this.#sweep(FILE_BLOBS, beforeMs, keys => this.files.referenced(keys));
    const ofRequests = await this.#sweep(STORED_REQUEST_BLOBS, beforeMs, keys =>
      this.storedRequests.referenced(keys),
    );
    const drafts = await this.blobs.removeDrafts(beforeMs);
    // Logs that a processor could not remove because it died at the end of a batch.
    const logs = await this.#sweep(JOB_LOG_BLOBS, beforeMs, jobs =>
      this.jobs.unfinishedAmong(jobs),
    );
    return { files, uploads, orphans: ofFiles + ofRequests + drafts, logs };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(this.settings.files.gcIntervalMs, undefined, {
        signal,
        ref: false,
      }).catch(() => undefined);
      if (!signal.aborted) await this.#round();
    }
  }

  async #round(): Promise<void> {
    try {
      const removed = await this.collect(await this.uploads.clockMs());
      if (Object.values(removed).some(count => count > 0))
        this.#logger.log(removed, 'garbage collected');
    } catch (error) {
      // The next round tries again.
      this.#logger.warn(
        { reason: (error as Error).message },
        'garbage collection failed; retrying in the next round',
      );
    }
  }

  async #expireFiles(nowMs: number): Promise<number> {
    for (let count = 0; ;) {
      const expired = await this.files.expire(nowMs, PORTION);
      for (const { blobKey } of expired) await this.blobs.remove(blobKey);
      count += expired.length;
      if (expired.length < PORTION || this.#stop.signal.aborted) return count;
    }
  }

  /** Their parts lose their rows and become unreferenced blobs. */
  async #expireUploads(nowMs: number): Promise<number> {
    const expired = await this.uploads.expired(nowMs, PORTION);
    for (const { id } of expired) await this.uploads.end(id, 'expired');
    return expired.length;
  }

  /**
   * @param neededAmong those of the ids whose blobs are still needed
   * @returns the number of blobs that no row names, which are removed
   */
  async #sweep(
    { prefix, idOf }: typeof FILE_BLOBS,
    beforeMs: number,
    neededAmong: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<number> {
    let removed = 0;
    for await (const keys of portions(this.#keysBefore(prefix, beforeMs), PORTION)) {
      const needed = await neededAmong([...new Set(keys.map(idOf))]);
      const garbage = keys.filter(key => !needed.has(idOf(key)));
      for (const key of garbage) await this.blobs.remove(key);
      removed += garbage.length;
      if (this.#stop.signal.aborted) break;
    }
    return removed;
  }

  /**
   * The age counts from the later of id and blob: S3 dates an object by the start
   * of its upload.
   */
  async *#keysBefore(prefix: string, beforeMs: number): AsyncGenerator<string> {
    for await (const { key, writtenAtMs } of this.blobs.keys(prefix))
      if (Math.max(writtenAtMs, bornAtMs(key) ?? 0) < beforeMs) yield key;
  }
}

async function* portions<T>(source: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let portion: T[] = [];
  for await (const entry of source) {
    portion.push(entry);
    if (portion.length < size) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
