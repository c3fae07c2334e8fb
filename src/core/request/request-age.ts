import { RequestPriority } from './request-priority.js';
import { type ScheduledRequest } from './scheduled-request.js';

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
  return request.priority === RequestPriority.BATCH && nowMs >= request.enqueuedAtMs + agingMs;
}

/**
 * Where a request stands among those of its tenant: by latest start (D-26). A request without one counts as if it had to start when it
 * ages, and none counts as later than that: no request is overtaken by one that came more
 * than `agingMs` after it.
 */
export const orderMsOf = (
  {
    latestStartMs = Infinity,
    enqueuedAtMs,
  }: Pick<ScheduledRequest, 'enqueuedAtMs' | 'latestStartMs'>,
  agingMs: number,
): number => Math.min(latestStartMs, enqueuedAtMs + agingMs);
