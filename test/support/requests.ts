import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';

/** A BATCH request of model `m` enqueued at 0 ms with 120 s to wait, unless told otherwise. */
export function aRequest(
  id: string,
  overrides: Partial<ScheduledRequest<undefined>> = {},
): ScheduledRequest<undefined> {
  const enqueuedAtMs = overrides.enqueuedAtMs ?? 0;
  return {
    id,
    model: 'm',
    priority: RequestPriority.BATCH,
    bytes: 1,
    enqueuedAtMs,
    queueDeadlineMs: enqueuedAtMs + 120_000,
    inferenceTimeoutMs: 30_000,
    payload: undefined,
    ...overrides,
  };
}

/** The same, REALTIME. */
export function aRealtimeRequest(
  id: string,
  overrides: Partial<ScheduledRequest<undefined>> = {},
): ScheduledRequest<undefined> {
  return aRequest(id, { priority: RequestPriority.REALTIME, ...overrides });
}
