import { type ScheduledRequest } from '../request/scheduled-request.js';

export const MAX_TENANT_WEIGHT = 1000;

/**
 * By latest start (D-26). A request without one counts as if it had to start when it
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
