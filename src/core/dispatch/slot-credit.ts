import { type PriorityQueue } from '../queue/priority-queue.js';
import { RequestPriority } from '../request/request-priority.js';
import { type SlotCredit } from './worker.port.js';

interface Candidate {
  readonly model: string;
  readonly priority: RequestPriority;
}

/**
 * Who may overdraw a worker (D-24): true REALTIME only, when it is its turn. BATCH that aged may not, although it has its share
 * of the turns (D-03): a backlog older than 30 s would move into the worker. When it is the aged one's turn, REALTIME waits with
 * it for a free slot, or it would overtake it for ever: BATCH gets one only when the overdraft is paid back.
 */
export function slotCredit(
  { model, priority }: Candidate,
  queue: Pick<PriorityQueue<unknown>, 'isAgedTurn'>,
  nowMs: number,
): SlotCredit {
  if (priority === RequestPriority.BATCH) return 'free';
  return queue.isAgedTurn(model, nowMs) ? 'free' : 'urgent';
}
