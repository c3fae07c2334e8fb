import { type PriorityQueue } from '../queue/priority-queue.js';
import { type Demand } from './swap-policy.port.js';

/** What waits for a model in the queue. O(tenants) */
export function waitingFor(
  queue: PriorityQueue,
  model: string,
): Pick<Demand, 'waiting' | 'oldestMs' | 'oldestRealtimeMs' | 'dueMs'> {
  const { realtime, batch } = queue.lanesOf(model);
  const oldestRealtimeMs = realtime.firstEnqueuedAtMs;
  return {
    waiting: realtime.size + batch.size,
    oldestMs: Math.min(oldestRealtimeMs, batch.firstEnqueuedAtMs),
    oldestRealtimeMs,
    dueMs: Math.min(oldestRealtimeMs, realtime.firstOrderMs, batch.firstOrderMs),
  };
}
