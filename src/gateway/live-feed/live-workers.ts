import {
  type LiveDelta,
  type LiveState,
  type LiveWorker,
} from '../../contracts/events/live-event.js';
import { type WorkerView } from '../worker-pool/worker-view.js';

/** Without addresses, processes or logs, which listeners need not know. */
export function liveWorkers(
  views: readonly WorkerView[],
): Readonly<Record<string, LiveWorker>> {
  return Object.fromEntries(
    views.map(({ id, model, state, slots, streams, restarts }) => [
      id,
      { id, model, state, slots: slots.total, in_use: slots.inUse, streams, restarts },
    ]),
  );
}

/** Undefined when nothing changed. */
export function stateChange(
  before: LiveState,
  now: LiveState,
): Pick<LiveDelta, 'set' | 'removed'> | undefined {
  const set = Object.entries(now).filter(
    ([key, entry]) => JSON.stringify(before[key]) !== JSON.stringify(entry),
  );
  const removed = Object.keys(before).filter(key => !(key in now));
  if (set.length === 0 && removed.length === 0) return undefined;
  return { set: Object.fromEntries(set), ...(removed.length > 0 && { removed }) };
}
