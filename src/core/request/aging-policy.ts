import { RequestPriority } from './request-priority.js';

/**
 * Monotonic time from which a BATCH request is aged and competes with REALTIME (D-03).
 */
export function agesAtMs(enqueuedAtMs: number, agingMs: number): number {
  return enqueuedAtMs + agingMs;
}

/**
 * True for a BATCH request that has waited `agingMs` or longer. Computed when
 * choosing, never stored.
 */
export function isAged(
  request: Readonly<{ priority: RequestPriority; enqueuedAtMs: number }>,
  nowMs: number,
  agingMs: number,
): boolean {
  return (
    request.priority === RequestPriority.BATCH && nowMs >= request.enqueuedAtMs + agingMs
  );
}
