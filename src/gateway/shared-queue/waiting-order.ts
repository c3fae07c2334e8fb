import { Entry } from '../../core/order/account.js';
import { FairLane } from '../../core/order/fair-lane.js';
import { FairOrder } from '../../core/order/fair-order.js';
import { type AgingOptions } from '../../core/queue/model-lane.js';
import {
  type QueueAccounts,
  type WaitingTenant,
} from '../../platform/redis/redis-order.js';

/**
 * Ids of waiting jobs in the order in which workers take them if none comes, ages
 * or is measured.
 */
export function dispatchOrder(
  { others, agingCredit, tenants }: QueueAccounts,
  { agingMs, agingShare }: AgingOptions,
  nowMs = Date.now(),
): string[] {
  const weights = new Map(tenants.map(({ owner, weight }) => [owner, weight]));
  const weightOf = (owner: string): number => weights.get(owner) ?? 1;
  const realtime = new FairLane<string>(weightOf);
  const batch = new FairLane<string>(weightOf);
  fill(
    realtime,
    tenants.filter(({ isRealtime }) => isRealtime),
    agingMs,
  );
  fill(
    batch,
    tenants.filter(({ isRealtime }) => !isRealtime),
    agingMs,
  );
  const order = new FairOrder<string>({ realtime, batch, agingShare, agingCredit });
  return [...others, ...Array.from(order.inOrder(nowMs), ({ item }) => item)];
}

function fill(
  lane: FairLane<string>,
  tenants: readonly WaitingTenant[],
  agingMs: number,
): void {
  const from = Math.min(...tenants.map(({ startTag }) => startTag));
  const entries: Entry<string>[] = [];
  for (const { owner, startTag, weight, isRealtime, jobs } of tenants) {
    lane.correct(owner, (startTag - from) * weight);
    for (const { id, sinceMs, costMs } of jobs) {
      const agesAtMs = sinceMs + agingMs;
      const place = {
        isRealtime,
        tenant: owner,
        sinceMs,
        orderMs: sinceMs,
        agesAtMs,
        costMs,
        bytes: 0,
      };
      entries.push(new Entry(id, place));
    }
  }
  entries.sort((a, b) => a.place.sinceMs - b.place.sinceMs);
  for (const entry of entries) lane.append(entry);
}
