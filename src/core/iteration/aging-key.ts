/** What the place in the line depends on. */
export interface Arrival {
  /** Priority class, 0 first. */
  readonly priorityClass: number;
  /** Monotonic milliseconds of the request's first arrival; a re-queue keeps it. */
  readonly arrivalMs: number;
}

/**
 * Static aging key, smaller first (D-21): a class later by one competes like an arrival `classWidthMs` later. Aging that grows
 * linearly with time never changes the order of two requests, so the key needs no clock, no re-sort, and survives a re-queue.
 */
export function agingKey({ priorityClass, arrivalMs }: Arrival, classWidthMs: number): number {
  return priorityClass * classWidthMs + arrivalMs;
}
