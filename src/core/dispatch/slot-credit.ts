import { type PriorityQueue } from '../queue/priority-queue.js';
import { RequestPriority } from '../request/request-priority.js';
import { type SlotCredit } from './worker.port.js';

/**
 * Which credit a lane may use (D-24). Only REALTIME may overdraw a worker, in its turn.
 * Aged BATCH may not, although it has its share of the turns (D-03): a backlog older than
 * 30 s would move into the worker. In an aged request's turn, REALTIME waits for a free
 * slot too; otherwise it would overtake for ever, since BATCH gets a slot only after the
 * overdraft is paid back.
 */
export function slotCredit(
  { model, priority }: { readonly model: string; readonly priority: RequestPriority },
  queue: Pick<PriorityQueue, 'turnOf'>,
  nowMs: number,
): SlotCredit {
  if (priority === RequestPriority.BATCH) return 'free';
  return queue.turnOf(model, nowMs) === RequestPriority.BATCH ? 'free' : 'urgent';
}
