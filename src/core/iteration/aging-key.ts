/** What the place in the queue depends on. */
export interface Arrival {
  /** Priority class, 0 first. */
  readonly priorityClass: number;
  /** Monotonic milliseconds of the request's first arrival; a re-queue keeps it. */
  readonly arrivalMs: number;
}

/**
 * Static aging key, smaller first (D-21): one class lower counts like an arrival `classWidthMs` later. Aging that grows
 * linearly with time never changes the order of two requests, so the key needs no clock and no re-sort, and survives a
 * re-queue.
 */
export function agingKey({ priorityClass, arrivalMs }: Arrival, classWidthMs: number): number {
  return priorityClass * classWidthMs + arrivalMs;
}
