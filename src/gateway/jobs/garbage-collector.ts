import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type BlobStore, type FileStore, type UploadStore } from '../../core/jobs/job.ports.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { FILE_STORE, UPLOAD_STORE } from '../../platform/database/database.tokens.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { FILE_BLOBS } from '../../platform/storage/file-blob-key.js';

/** Rows of one statement, keys of one question. */
const PORTION = 500;

/**
 * Removes what nobody can ask for any more: expired files and uploads, and bytes that no row names, left by a crash between
 * the two. Every gateway does so; what another one has removed is simply gone.
 */
@Injectable()
export class GarbageCollector implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  readonly #logger = new Logger(GarbageCollector.name);
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    @Inject(FILE_STORE) private readonly files: FileStore,
    @Inject(UPLOAD_STORE) private readonly uploads: UploadStore,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    @Inject(SETTINGS) private readonly settings: Settings,
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

  /** One round. @param nowMs wall-clock time @returns how many of each went */
  async collect(nowMs: number): Promise<{ files: number; uploads: number; orphans: number }> {
    const files = await this.#expireFiles(nowMs);
    const uploads = await this.#expireUploads(nowMs);
    const beforeMs = nowMs - this.settings.files.orphanAgeMs;
    const orphans = (await this.#removeOrphans(beforeMs)) + (await this.blobs.removeDrafts(beforeMs));
    return { files, uploads, orphans };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(this.settings.files.gcIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#round();
    }
  }

  async #round(): Promise<void> {
    try {
      const removed = await this.collect(Date.now());
      if (Object.values(removed).some(count => count > 0)) this.#logger.log(removed, 'garbage collected');
    } catch (error) {
      // A database or bucket that is away now is there the next time.
      this.#logger.warn({ reason: (error as Error).message }, 'garbage could not be collected');
    }
  }

  async #expireFiles(nowMs: number): Promise<number> {
    for (let count = 0; ;) {
      const gone = await this.files.expire(nowMs, PORTION);
      for (const { blobKey } of gone) await this.blobs.remove(blobKey);
      count += gone.length;
      if (gone.length < PORTION || this.#stop.signal.aborted) return count;
    }
  }

  /** Their parts lose their rows, and so become orphans. */
  async #expireUploads(nowMs: number): Promise<number> {
    const expired = await this.uploads.expired(nowMs, PORTION);
    for (const { id } of expired) await this.uploads.end(id, 'expired');
    return expired.length;
  }

  async #removeOrphans(beforeMs: number): Promise<number> {
    let removed = 0;
    for await (const keys of portions(this.#keysBefore(beforeMs), PORTION)) {
      const referenced = await this.files.referenced(keys);
      const orphans = keys.filter(key => !referenced.has(key));
      for (const key of orphans) await this.blobs.remove(key);
      removed += orphans.length;
      if (this.#stop.signal.aborted) break;
    }
    return removed;
  }

  async *#keysBefore(beforeMs: number): AsyncGenerator<string> {
    for await (const { key, writtenAtMs } of this.blobs.keys(FILE_BLOBS)) if (writtenAtMs < beforeMs) yield key;
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
