import { ModelLanes, type QueueOptions } from '../../core/queue/model-lanes.js';
import { requestKey } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type AccountedJob, type QueueAccounts, type WaitingTenant } from '../../platform/redis/fair-order.js';

/** Ids of waiting jobs in the order in which workers take them if none comes, ages or is measured. */
export function dispatchOrder(
  { others, agingCredit, tenants }: QueueAccounts,
  aging: Pick<QueueOptions, 'agingMs' | 'agingShare'>,
  nowMs = Date.now(),
): string[] {
  const weights = new Map(tenants.map(({ owner, weight }) => [owner, weight]));
  const lanes = new ModelLanes<undefined>('', { ...aging, agingCredit, weightOf: owner => weights.get(owner) ?? 1 });
  for (const isRealtime of [true, false])
    fill(
      lanes,
      tenants.filter(tenant => tenant.isRealtime === isRealtime),
    );
  return [...others, ...Array.from(lanes.inOrder(nowMs), ({ request }) => request.id)];
}

function fill(lanes: ModelLanes<undefined>, tenants: readonly WaitingTenant[]): void {
  const from = Math.min(...tenants.map(({ startTag }) => startTag));
  const requests: ScheduledRequest<undefined>[] = [];
  for (const tenant of tenants) {
    const own = tenant.jobs.map(job => requestOf(job, tenant));
    const [first] = own;
    if (first) lanes.of(first.priority).correct(first, (tenant.startTag - from) * tenant.weight);
    requests.push(...own);
  }
  requests.sort((a, b) => a.enqueuedAtMs - b.enqueuedAtMs);
  for (const request of requests) lanes.of(request.priority).append(request);
}

const requestOf = (
  { id, sinceMs, costMs }: AccountedJob,
  { owner, isRealtime }: WaitingTenant,
): ScheduledRequest<undefined> => ({
  ...{ id, key: requestKey({ tenant: owner, id }), tenant: owner, model: '', costMs, enqueuedAtMs: sinceMs },
  priority: isRealtime ? RequestPriority.REALTIME : RequestPriority.BATCH,
  ...{ bytes: 0, queueDeadlineMs: Infinity, inferenceTimeoutMs: 0, payload: undefined },
});
