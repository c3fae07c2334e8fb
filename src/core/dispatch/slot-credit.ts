import { type PriorityQueue } from '../queue/priority-queue.js';
import { RequestPriority } from '../request/request-priority.js';
import { type SlotCredit } from './worker.port.js';

interface Candidate {
  readonly model: string;
  readonly priority: RequestPriority;
  readonly enqueuedAtMs: number;
}

/**
 * Who may overdraw a worker (D-24): true REALTIME only. BATCH that aged may not, although it counts as REALTIME in the line
 * (D-03): a backlog older than 30 s would move into the worker. Nor may REALTIME behind such a one, or it would overtake it for
 * ever: BATCH gets a free slot only when the overdraft is paid back.
 */
export function slotCredit(
  { model, priority, enqueuedAtMs }: Candidate,
  queue: Pick<PriorityQueue<unknown>, 'hasOlderAged'>,
  nowMs: number,
): SlotCredit {
  if (priority === RequestPriority.BATCH) return 'free';
  return queue.hasOlderAged(model, enqueuedAtMs, nowMs) ? 'free' : 'urgent';
}
