interface WorkerSize {
  readonly kind: string;
  readonly maxBatch: number;
  readonly maxConcurrent: number;
  readonly overdraft?: number;
}

/**
 * Requests a worker takes at once: one group per device lane, and one prepared ahead
 * (D-24). Generations form no groups; as many are sent as run at once, because one more
 * would wait in the worker, where priority cannot reach it (D-01, D-21).
 */
export const slotCredits = ({ kind, maxBatch, maxConcurrent }: WorkerSize): number =>
  kind === 'llm' ? maxConcurrent : maxBatch * (maxConcurrent + 1);

/**
 * What REALTIME may take in addition: one group, which the device takes next. A
 * generation is displaced only by engines that report an overdraft.
 */
export const slotOverdraft = ({ kind, maxBatch, overdraft = 0 }: WorkerSize): number =>
  kind === 'llm' ? overdraft : maxBatch;

/**
 * Generations form no groups: as many suspects run at once as were lost together, halved.
 */
export const groupSize = ({ kind, maxBatch }: WorkerSize): number =>
  kind === 'llm' ? Infinity : maxBatch;
