import { Entry } from '../order/account.js';
import { DEFAULT_TENANT } from '../request/request-key.js';
import { RequestPriority } from '../request/request-priority.js';
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

export function entryOf(
  request: ScheduledRequest,
  agingMs: number,
): Entry<ScheduledRequest> {
  const { priority, tenant = DEFAULT_TENANT, enqueuedAtMs, costMs, bytes } = request;
  return new Entry(request, {
    isRealtime: priority === RequestPriority.REALTIME,
    tenant,
    sinceMs: enqueuedAtMs,
    orderMs: orderMsOf(request, agingMs),
    agesAtMs: enqueuedAtMs + agingMs,
    costMs,
    bytes,
  });
}
