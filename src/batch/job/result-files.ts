import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type BatchJob, isSpeech } from '../../core/jobs/batch-job.js';
import { BlobStore, type StoredFile } from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';
import { Settings } from '../../platform/config/settings.js';
import { FileStore } from '../../platform/database/file-store.js';
import { fileBlobKey, mayBeNamed } from '../../platform/storage/blob-keys.js';
import { chunked, hashed } from '../../platform/storage/durable-files.js';
import { type JobLease, LeaseLost } from '../lease/job-lease.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobMetrics } from '../observe/job.metrics.js';
import { type ClaimedJob } from './claimed-job.js';
import { type ResultLog } from './result-log.js';
import { type ResultRecord } from './result-segments.js';

const ATTEMPTS = 4;
const PAUSES = { firstMs: 500, longestMs: 2000 };

/** The claim that creates a file. */
export type JobClaim = Pick<JobLease, 'job' | 'epoch'>;

/** Ids per query. */
const PAGE = 500;

/**
 * Files that a batch creates. The blob is written before its row, so that a row never
 * names missing bytes. One statement checks the lease and writes: a processor that lost
 * the batch adds and removes no rows.
 */
@Injectable()
export class ResultFiles {
  constructor(
    private readonly settings: Settings,
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {}

  /**
   * Streams the result log into the output and the error file. A file without lines is
   * not created. Idempotent, also after a crash. @throws LeaseLost, or when a store fails
   */
  async publish(work: ClaimedJob, log: ResultLog) {
    const { lease } = work;
    const ids = this.#idsOf(work);
    const { completed, failed } = log.progress.counts;
    const save = async (name: 'output' | 'error', kind: ResultRecord['kind']): Promise<string> => {
      const filename = `${lease.job.id}_${name}.jsonl`;
      const open = (): AsyncIterable<Uint8Array> => chunked(log.lines(kind));
      return (await this.save(lease, filename, open, ids[name])).id;
    };
    const outputFileId = completed > 0 ? await save('output', 'O') : undefined;
    const errorFileId = failed > 0 ? await save('error', 'E') : undefined;
    const audio = await audioFilesOf(lease.job, log);
    await this.#removeAllBut(new Set([outputFileId, errorFileId, ...audio]), lease);
    return { outputFileId, errorFileId };
  }

  /** The result files of this claim that are durable. */
  async published({ lease: { job }, resultIds }: ClaimedJob) {
    if (!resultIds) return {};
    const { output, error } = resultIds;
    const stored = async (id: string) => (await this.files.find(job.tenant, id))?.id;
    return { outputFileId: await stored(output), errorFileId: await stored(error) };
  }

  #idsOf(work: ClaimedJob) {
    const { resultIds: known } = work;
    if (known && mayBeNamed(known.output)) return known;
    return (work.resultIds = { output: newFileId(), error: newFileId() });
  }

  /**
   * Removes files of the batch that no result names: those of an earlier claim, and of a
   * line whose result was lost. Garbage collection removes their bytes.
   */
  async #removeAllBut(
    named: ReadonlySet<string | undefined>,
    { job, epoch }: JobClaim,
  ): Promise<void> {
    for (let after: string | undefined; ;) {
      const ids = await this.files.madeFor(job.id, { limit: PAGE, after });
      await this.files.removeFor(
        { jobId: job.id, epoch },
        ids.filter(id => !named.has(id)),
      );
      if (ids.length < PAGE) return;
      after = ids.at(-1);
    }
  }

  #expiry(afterS: number | undefined, createdAtMs: number): Pick<StoredFile, 'expiresAtMs'> {
    const lifeMs = afterS === undefined ? this.settings.files.batchExpiryMs : afterS * 1000;
    return lifeMs === 0 ? {} : { expiresAtMs: createdAtMs + lifeMs };
  }

  /**
   * Idempotent.
   * @param open called once per attempt
   * @param id chosen by the caller: an existing file with this id is returned as it is
   * @throws LeaseLost, or when a store fails or takes too long
   */
  async save(
    { job, epoch }: JobClaim,
    filename: string,
    open: () => AsyncIterable<Uint8Array>,
    id = newFileId(),
  ): Promise<StoredFile> {
    const known = await this.files.find(job.tenant, id);
    if (known) return known;
    const blobKey = fileBlobKey(job.tenant, id);
    let digest = createHash('sha256');
    const size = await this.#write(blobKey, () => hashed(open(), (digest = createHash('sha256'))));
    // Handled like an outage: the next attempt chooses another id.
    if (!mayBeNamed(id))
      throw Object.assign(new Error(`Storing ${id} took too long.`), { code: 'ESTALE' });
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

  /**
   * Retries short outages; the job itself waits out longer ones, and its local copy stays.
   * @param open opens the bytes for each attempt. @returns their number. @throws the
   *   error of the last attempt
   */
  async #write(key: string, open: () => AsyncIterable<Uint8Array>): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        const size = await this.traces.step('storage.Store', key, () =>
          this.blobs.write(key, open()),
        );
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

const newFileId = (): string => timeOrderedId('file-', Date.now());

/** Audio files that lines of the output file name. */
async function audioFilesOf(job: BatchJob, log: ResultLog): Promise<string[]> {
  if (!isSpeech(job)) return [];
  const ids: string[] = [];
  for await (const line of log.lines('O')) {
    const { response } = parseBoundedJson(line.toString(), STORED_BOUNDS) as {
      response: { body: { file_id?: string } };
    };
    if (response.body.file_id !== undefined) ids.push(response.body.file_id);
  }
  return ids;
}
