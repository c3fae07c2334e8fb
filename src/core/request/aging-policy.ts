import { RequestPriority } from './request-priority.js';

type Aging = Readonly<{ priority: RequestPriority; enqueuedAtMs: number }>;

/** Monotonic instant from which a BATCH request is aged: it has its share of the turns beside REALTIME (D-03). */
export function agesAtMs(enqueuedAtMs: number, agingMs: number): number {
  return enqueuedAtMs + agingMs;
}

/** True for a BATCH request that has waited `agingMs` or longer. Asked when choosing, never stored: age cannot go stale. */
export function isAged(request: Aging, nowMs: number, agingMs: number): boolean {
  return request.priority === RequestPriority.BATCH && nowMs >= agesAtMs(request.enqueuedAtMs, agingMs);
}
