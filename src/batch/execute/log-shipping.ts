import { createReadStream, createWriteStream } from 'node:fs';
import { access, link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { Settings } from '../../platform/config/settings.js';
import { jobLogFolder } from '../../platform/storage/blob-keys.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { type ResultLog } from '../job/result-log.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobMetrics } from '../observe/job.metrics.js';

/**
 * `jobs/<batch>/log/<segment>/<first byte>`: the pieces of a segment; its seal
 * is `…/<segment>.seal`.
 */
const pieceKey = (jobId: string, segment: string, from: number): string =>
  `${jobLogFolder(jobId)}${segment}/${String(from).padStart(15, '0')}`;

/**
 * Copies the result log to the blob store for processors that share no disk (blobs in
 * S3): new bytes every `batch.checkpoint_ms` and on hand-over. With blobs on the file
 * system the data folder is shared, and nothing is copied.
 */
@Injectable()
export class LogShipping {
  readonly #logger = new Logger('BatchExecute');
  readonly #enabled: boolean;

  constructor(
    private readonly settings: Settings,
    private readonly blobs: BlobStore,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {
    this.#enabled = settings.blobs.driver === 's3';
  }

  /**
   * Fetches segments of other processors. Call before the log is opened. @throws when
   * the store fails
   */
  async restore({ lease, folder, writer }: ClaimedJob): Promise<void> {
    if (!this.#enabled) return;
    for (const [name, keys] of await this.#shipped(lease.job.id)) {
      const path = join(folder.results, name);
      if (await exists(path)) continue;
      const draft = `${path}.${writer}.tmp`;
      await pipeline(this.blobs.readAll(keys.sort()), createWriteStream(draft, { mode: 0o600 }));
      // Never replace a file of another processor on this disk: it can be
      // longer, and sealed.
      await link(draft, path).catch(unlessExists);
      await rm(draft, { force: true });
      this.metrics.stored('retrieve', 'success');
    }
  }

  /**
   * @returns what is disposed of copies the rest, for at most `batch.checkpoint_ms`, and
   *   never rejects
   */
  start({ lease }: ClaimedJob, log: ResultLog): AsyncDisposable | undefined {
    if (!this.#enabled) return undefined;
    const copy = shipmentOf(this.blobs, lease.job.id, log);
    const ship = (): Promise<void> =>
      copy().then(
        shipped => void (shipped && this.metrics.stored('store', 'success')),
        (error: unknown) => {
          this.metrics.stored('store', 'retry');
          this.#logger.warn(
            { batch: lease.job.id, err: error },
            'could not copy the checkpoint; retrying at the next one',
          );
        },
      );
    const timer = setInterval(() => void ship(), this.settings.batch.checkpointMs);
    return {
      [Symbol.asyncDispose]: () => {
        clearInterval(timer);
        // Only a copy: an unavailable store must not delay the end of a batch.
        return Promise.race([
          ship(),
          sleep(this.settings.batch.checkpointMs, undefined, { ref: false }),
        ]);
      },
    };
  }

  /** Call after the end of a job. Garbage collection removes what stays after a crash. */
  async remove(jobId: string): Promise<void> {
    if (!this.#enabled) return;
    for await (const { key } of this.blobs.keys(jobLogFolder(jobId))) {
      await this.traces.step('storage.Delete', key, () => this.blobs.remove(key));
      this.metrics.stored('delete', 'success');
    }
  }

  /** Local file name → keys of its pieces. */
  async #shipped(jobId: string): Promise<Map<string, string[]>> {
    const files = new Map<string, string[]>();
    for await (const { key } of this.blobs.keys(jobLogFolder(jobId))) {
      const name = key.slice(jobLogFolder(jobId).length).split('/')[0]!;
      files.set(name, [...(files.get(name) ?? []), key]);
    }
    return files;
  }
}

/**
 * Copies the current segment of one log piece by piece; pieces never overlap.
 * @returns the function that copies; true if there were new bytes
 */
function shipmentOf(blobs: BlobStore, jobId: string, log: ResultLog): () => Promise<boolean> {
  const { folder, current } = log.segments;
  const seal = current.replace(/log$/, 'seal');
  /** Undefined: its seal is not copied yet. */
  let shipped: number | undefined;
  let running: Promise<boolean> | undefined;
  const ship = async (): Promise<boolean> => {
    if (shipped === undefined)
      await blobs.write(`${jobLogFolder(jobId)}${seal}`, createReadStream(join(folder, seal)));
    shipped ??= 0;
    const upTo = log.writtenBytes;
    if (upTo === shipped) return false;
    const range = { start: shipped, end: upTo - 1 };
    const bytes = createReadStream(join(folder, current), range);
    await blobs.write(pieceKey(jobId, current, shipped), bytes);
    shipped = upTo;
    return true;
  };
  return () => (running ??= ship().finally(() => (running = undefined)));
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
