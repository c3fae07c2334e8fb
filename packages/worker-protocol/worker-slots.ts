/** Requests that a gateway sends to a worker at once (D-24). */
export function slotsOf({
  kind,
  maxBatch,
  maxConcurrent,
  overdraft = 0,
}: {
  readonly kind: string;
  readonly maxBatch: number;
  readonly maxConcurrent: number;
  readonly overdraft?: number;
}): {
  /** Slots for any priority. */
  readonly credits: number;
  /** Slots that REALTIME may take in addition. */
  readonly overdraft: number;
  /** Of one engine call; as many suspects run at once as were lost together, halved. */
  readonly group: number;
} {
  // Generations form no groups: as many are sent as run at once, because one more would
  // wait in the worker, where priority cannot reach it (D-01, D-21). One is displaced
  // only by engines that report an overdraft.
  if (kind === 'llm') return { credits: maxConcurrent, overdraft, group: Infinity };
  // One group per device lane, one prepared ahead, and one of REALTIME, which the device
  // takes next; of speech as many as it can make as fast as they are played (D-57).
  const credits = maxBatch * (maxConcurrent + 1);
  return { credits, overdraft: Math.max(maxBatch, overdraft), group: maxBatch };
}
