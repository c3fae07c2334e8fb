import { isAged } from '../request/request-age.js';
import { type RequestKey } from '../request/request-key.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type PriorityQueue } from './priority-queue.js';

/** What waits, by class; all counts of one model. */
interface Waiting {
  readonly realtime: number;
  readonly batch: number;
}

/** Requests of its class, and of those that go before it. */
export const waitingUpTo = (priority: RequestPriority, { realtime, batch }: Waiting): number =>
  priority === RequestPriority.REALTIME ? realtime : realtime + batch;

/** Its place when others wait beside what its queue has: they take turns. Not too early. */
export function placeBeside(
  place: number,
  priority: RequestPriority,
  own: Waiting,
  others: Waiting,
): number {
  const beside = waitingUpTo(priority, others) / Math.max(1, waitingUpTo(priority, own));
  return Math.ceil(place * (1 + beside));
}

export interface QueuedView {
  readonly request: ScheduledRequest;
  /** BATCH that competes with REALTIME by age. */
  readonly aged: boolean;
  /** 1-based position in the queue of its model; other models never delay it. */
  readonly position: number;
}

/**
 * One waiting request with its position: O(requests ahead of it in the queue of its
 * model), O(1) if it does not wait.
 */
export function placeIn(
  queue: PriorityQueue,
  key: RequestKey,
  nowMs: number,
): QueuedView | undefined {
  const waiting = queue.get(key);
  for (const view of waiting ? places(queue, waiting.model, nowMs) : [])
    if (view.request === waiting) return view;
  return undefined;
}

/** All waiting requests in dispatch order. O(n log n): for admin listings. */
export function listingOf(queue: PriorityQueue, nowMs: number): QueuedView[] {
  const views = queue.models.flatMap(model => {
    let lastLevel: number = RequestPriority.REALTIME;
    let lastMs = -Infinity;
    return Array.from(places(queue, model, nowMs), view => {
      const { request, aged } = view;
      // An aged request may come after another tenant's that is not: it is not sent before.
      const level = Math.max(lastLevel, aged ? RequestPriority.REALTIME : request.priority);
      // No request is sent before the one ahead of it in its own model, however old it is.
      lastMs = level === lastLevel ? Math.max(lastMs, request.enqueuedAtMs) : request.enqueuedAtMs;
      lastLevel = level;
      return { ...view, level, sinceMs: lastMs };
    });
  });
  views.sort((a, b) => a.level - b.level || a.sinceMs - b.sinceMs);
  return views;
}

function* places(queue: PriorityQueue, model: string, nowMs: number): Generator<QueuedView> {
  let position = 0;
  for (const request of queue.inOrder(model, nowMs)) {
    position += 1;
    yield { request, aged: isAged(request, nowMs, queue.options.agingMs), position };
  }
}
