import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { BlobStore, FileStore, StoredFile } from '../../core/jobs/job.ports.js';
import { backoffMs } from '../../core/shared/backoff.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { FILE_STORE } from '../../platform/database/database.tokens.js';
import { timeOrderedId } from '../../platform/database/time-ordered-id.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { fileBlobKey, mayBeNamed } from '../../platform/storage/file-blob-key.js';
import { type JobLease, LeaseLost } from '../lease/job-lease.js';
import { JobTraces } from '../observe/job-traces.js';
import { StoreMetrics } from '../observe/job.metrics.js';

const ATTEMPTS = 4;
const PAUSES = { firstMs: 500, longestMs: 2000 };

/** Writing blobs with short back-off for short trouble. Long trouble is the job's to wait out; its local copy stays. */
@Injectable()
export class BlobWrites {
  constructor(
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly metrics: StoreMetrics,
    private readonly traces: JobTraces,
  ) {}

  /** @param open the bytes, anew for each attempt. @returns their number. @throws the last attempt's error */
  async write(key: string, open: () => AsyncIterable<Uint8Array>): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        const size = await this.traces.step('storage.Store', key, () => this.blobs.write(key, open()));
        this.metrics.stored('store', 'success');
        return size;
      } catch (error) {
        this.metrics.stored('store', attempt < ATTEMPTS ? 'retry' : 'exhausted');
        if (attempt >= ATTEMPTS) throw error;
      }
      await sleep(backoffMs(attempt, PAUSES));
    }
  }
}

export interface NewResultFile {
  readonly filename: string;
  /** Asked for once per attempt. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Chosen before: a file of this id that is there already is the one. */
  readonly id?: string;
}

/** Whose files these are. */
export type Maker = Pick<JobLease, 'job' | 'epoch'>;

/** Passes like an outage: the next attempt chooses another name. */
class NameTooOld extends Error {
  readonly code = 'ESTALE';

  constructor(id: string) {
    super(`Storing ${id} took too long.`);
    this.name = 'NameTooOld';
  }
}

/** Ids of one question. */
const PAGE = 500;

/**
 * Files that a batch makes: blob first, row after it, so that a row never names bytes that are not there. Rows come and go only while
 * the batch is held, by the same statement: whoever was frozen and lost it adds and removes nothing.
 */
@Injectable()
export class ResultFiles {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(FILE_STORE) private readonly files: FileStore,
    private readonly blobs: BlobWrites,
  ) {}

  /**
   * Removes files of the batch that no result names: of an earlier holder, or of a line whose result was lost with its processor.
   * Their bytes go by garbage collection.
   */
  async removeAllBut(isNamed: (id: string) => boolean, { job, epoch }: Maker): Promise<void> {
    for (let after: string | undefined; ;) {
      const ids = await this.files.madeFor(job.id, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      await this.files.removeFor(
        { jobId: job.id, epoch },
        ids.filter(id => !isNamed(id)),
      );
      if (ids.length < PAGE) return;
      after = ids.at(-1);
    }
  }

  async isStored({ job }: Maker, id: string): Promise<boolean> {
    return (await this.files.find(job.tenant, id)) !== undefined;
  }

  newId(): string {
    return timeOrderedId('file-', Date.now());
  }

  /** False: the bytes of this name may be collected as garbage at any moment, and want another one. */
  isInTime(id: string): boolean {
    return mayBeNamed(id, this.settings.files.orphanAgeMs, Date.now());
  }

  #expiry(afterS: number | undefined, createdAtMs: number): Pick<StoredFile, 'expiresAtMs'> {
    const lifeMs = afterS === undefined ? this.settings.files.batchExpiryMs : afterS * 1000;
    return lifeMs === 0 ? {} : { expiresAtMs: createdAtMs + lifeMs };
  }

  /** @throws LeaseLost, or when a store fails or took too long; doing it again is safe */
  async save({ job, epoch }: Maker, { filename, open, id = this.newId() }: NewResultFile): Promise<StoredFile> {
    const known = await this.files.find(job.tenant, id);
    if (known) return known;
    const blobKey = fileBlobKey(job.tenant, id);
    let digest = createHash('sha256');
    const size = await this.blobs.write(blobKey, () => hashed(open(), (digest = createHash('sha256'))));
    if (!this.isInTime(id)) throw new NameTooOld(id);
    const createdAtMs = Date.now();
    const file: StoredFile = {
      id,
      tenant: job.tenant,
      purpose: 'batch_output',
      filename,
      bytes: size,
      createdAtMs,
      ...this.#expiry(job.outputExpiresAfterS, createdAtMs),
      blobKey,
      sha256: digest.digest('hex'),
    };
    if (!(await this.files.createFor({ jobId: job.id, epoch }, file))) throw new LeaseLost(job.id);
    return file;
  }
}

async function* hashed(
  source: AsyncIterable<Uint8Array>,
  digest: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    digest.update(chunk);
    yield chunk;
  }
}
