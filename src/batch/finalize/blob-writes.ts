import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { backoffMs } from '../../core/shared/backoff.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { JobTraces } from '../observe/job-traces.js';
import { StoreMetrics } from '../observe/store.metrics.js';

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
