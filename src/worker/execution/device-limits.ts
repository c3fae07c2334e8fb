import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type DeviceLimits } from './micro-batcher.js';

/** What the engine takes, and no more than this worker was told to give it (`MAX_BATCH_SIZE`, `MAX_CONCURRENCY` of pulled work). */
export const deviceLimits = (
  { maxBatch, maxConcurrent }: DeviceLimits,
  { pull }: Pick<WorkerSpec, 'pull'>,
): DeviceLimits => ({
  maxBatch: Math.min(maxBatch, pull?.maxBatchSize ?? maxBatch),
  maxConcurrent: Math.min(maxConcurrent, pull?.maxConcurrency ?? maxConcurrent),
});
