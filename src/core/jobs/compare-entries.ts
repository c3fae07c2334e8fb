import { type PlanEntry } from './plan-entry.js';

/**
 * Puts equal system prompts next to each other, so that the engine's prefix cache
 * is warm. Lines without one come last. Lines with the same prompt keep the order
 * of the file.
 */
export function compareEntries(a: PlanEntry, b: PlanEntry): number {
  if (a.prefixHash === b.prefixHash) return a.offset - b.offset;
  if (a.prefixHash === 0) return 1;
  if (b.prefixHash === 0) return -1;
  return a.prefixHash - b.prefixHash;
}
