import {
  type RequestKey,
  requestKey,
  type RequestRef,
} from '../../src/core/request/request-key.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';

export const aKey = (id: string, tenant?: string): RequestKey => requestKey({ tenant, id });

/** As its caller names it; of the default tenant unless told otherwise. */
export const aRef = (id: string, tenant?: string): RequestRef => ({ tenant, id });

/**
 * A BATCH request of model `m` enqueued at 0 ms with 120 s to wait,
 * unless told otherwise.
 */
export function aRequest(id: string, overrides: Partial<ScheduledRequest> = {}): ScheduledRequest {
  const enqueuedAtMs = overrides.enqueuedAtMs ?? 0;
  return {
    id,
    key: aKey(id, overrides.tenant),
    model: 'm',
    priority: RequestPriority.BATCH,
    costMs: 1,
    bytes: 1,
    enqueuedAtMs,
    queueDeadlineMs: enqueuedAtMs + 120_000,
    inferenceTimeoutMs: 30_000,
    ...overrides,
  };
}

/** The same, REALTIME. */
export function aRealtimeRequest(
  id: string,
  overrides: Partial<ScheduledRequest> = {},
): ScheduledRequest {
  return aRequest(id, { priority: RequestPriority.REALTIME, ...overrides });
}
