import { Injectable } from '@nestjs/common';
import { type LiveBatch, type LiveRoomName } from '../../contracts/events/live-event.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';

/** Every gateway reads the same rows, so no other gateway is asked. */
export const isBatchRoom = (room: LiveRoomName): boolean => room.startsWith('batch:');

interface CachedBatch {
  readonly tenant: string;
  readonly view: LiveBatch;
}

/** The batches that have listeners, as last read. */
@Injectable()
export class LiveBatchCache {
  readonly #batches = new Map<string, CachedBatch>();

  find(id: string): CachedBatch | undefined {
    return this.#batches.get(id);
  }

  /** True when it has changed. */
  update(job: BatchJob): boolean {
    const view = liveBatch(job);
    if (JSON.stringify(this.#batches.get(job.id)?.view) === JSON.stringify(view))
      return false;
    this.#batches.set(job.id, { tenant: job.tenant, view });
    return true;
  }

  forget(id: string): void {
    this.#batches.delete(id);
  }
}

function liveBatch({
  id,
  status,
  endpoint,
  model,
  counts,
  outputFileId,
  errorFileId,
  expiresAtMs,
}: BatchJob): LiveBatch {
  return {
    ...{ id, status, endpoint },
    ...(model !== undefined && { model }),
    request_counts: counts,
    expires_at: Math.floor(expiresAtMs / 1000),
    ...(outputFileId !== undefined && { output_file_id: outputFileId }),
    ...(errorFileId !== undefined && { error_file_id: errorFileId }),
  };
}
