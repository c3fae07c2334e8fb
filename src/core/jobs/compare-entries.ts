import { type PlanEntry } from './plan-entry.js';

/**
 * Equal system prompts next to each other, so that the engine's prefix cache is warm; lines without one come last. Within
 * a prompt the order of the file stays (seeds/batch-processor "Downstream-aware ordering").
 */
export function compareEntries(a: PlanEntry, b: PlanEntry): number {
  if (a.prefixHash === b.prefixHash) return a.offset - b.offset;
  if (a.prefixHash === 0) return 1;
  if (b.prefixHash === 0) return -1;
  return a.prefixHash - b.prefixHash;
}
