import { expect, it } from '@jest/globals';
import { NEVER } from 'rxjs';
import { aRegistry, opened } from '../../../test/support/records.js';
import { aRequest } from '../../../test/support/requests.js';
import { type WindowTimers } from '../../core/batching/window-timers.js';
import { type Dispatcher } from '../../core/dispatch/dispatcher.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type TextPlaces } from '../shared-queue/text-places.js';
import { EmbeddedQueue } from './embedded-queue.js';

const { BATCH, REALTIME } = RequestPriority;
const LOAD = { device: 'gpu0', inMs: 1500, leaving: [] };
const AGING_MS = 30_000;

/** What is known of the one model and its workers. */
const KNOWN = {
  hasReady: true,
  hasSlot: true,
  isAway: false,
  isPlaced: false,
  loadedBy: undefined as string | undefined,
  state: 'absent',
};

/** A queue with one request, which has waited for `ageMs`. */
function queueWith(known: Partial<typeof KNOWN>, priority: RequestPriority = BATCH, ageMs = 0) {
  const { hasReady, hasSlot, isAway, isPlaced, loadedBy, state } = { ...KNOWN, ...known };
  const queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25 });
  const registry = aRegistry();
  const pool = {
    of: () => ({ hasReady, isPlaced, view: () => ({ state }) }),
    offer: () => hasSlot && { free: [{}], urgent: [{}] },
  };
  const embedded = new EmbeddedQueue(
    { queue } as Dispatcher,
    registry,
    { nowMs: () => ageMs },
    {} as WindowTimers,
    [],
    { pool, elsewhere: () => undefined, reprioritized$: NEVER } as unknown as TextPlaces,
  );
  const swaps = { isAway: () => isAway, expected: () => LOAD, loadedBy };
  Object.assign(embedded, { swaps });
  queue.enqueue(aRequest('r', { priority }));
  opened(registry, 'r', { priority });
  return embedded;
}

it.each([
  ['worker', {}, { hasReady: false }, undefined],
  ['device', {}, { hasReady: false, isAway: true }, LOAD],
  ['slot', {}, { hasSlot: false }, undefined],
  ['window', {}, {}, undefined],
  ['turn', { ageMs: AGING_MS }, {}, undefined],
  ['turn', { priority: REALTIME }, {}, undefined],
])(
  'a request waits for its %s: %j, %j',
  (waitsFor, { priority, ageMs }: { priority?: RequestPriority; ageMs?: number }, known, load) => {
    const [view] = queueWith(known, priority, ageMs).list();
    expect([view?.waitsFor, view?.load]).toEqual([waitsFor, load]);
  },
);

it.each([
  [{}, undefined],
  [{ isAway: true }, { text: expect.stringContaining('in about 2 s'), inMs: 1500 }],
  [{ isPlaced: true, loadedBy: 'gw_2' }, { text: expect.stringContaining('gw_2 loads it') }],
  [{ isPlaced: true, loadedBy: 'gw_2', state: 'loaded' }, undefined],
  [{ isPlaced: true }, undefined],
  [{ loadedBy: 'gw_2' }, undefined],
])('of a model with %j is awaited %j', (known, awaited) => {
  expect(queueWith(known).awaited('m', BATCH)).toEqual(awaited);
});
