import { BatchWindow } from '../../src/core/batching/batch-window.js';
import { type DispatchPlan } from '../../src/core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../src/core/dispatch/dispatcher.js';
import { Admission } from '../../src/core/queue/admission.js';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { type FakeWorkers } from './fake-workers.js';

type QueueBounds = ConstructorParameters<typeof Admission>[0];
type BatchWindowOptions = ConstructorParameters<typeof BatchWindow>[0];

export const GENEROUS_BOUNDS: QueueBounds = {
  maxRequests: 1_000_000,
  maxRequestsPerModel: 1_000_000,
  maxBytes: 1e12,
  maxBytesPerModel: 1e12,
  realtimeReserve: 0,
};

/** The defaults of the product: 8 per group, 50 ms window, 5 ms quiet gap (D-02). */
export const DEFAULT_WINDOW: BatchWindowOptions = {
  policy: 'adaptive',
  maxSize: 8,
  windowMs: 50,
  quietGapMs: 5,
};

export interface HarnessOptions extends Partial<BatchWindowOptions> {
  readonly agingMs?: number;
  readonly agingShare?: number;
  readonly bounds?: Partial<QueueBounds>;
}

/** The core put together over fake workers, without any time. */
export function aDispatcher(workers: FakeWorkers, options: HarnessOptions = {}) {
  const queue = new PriorityQueue({
    agingMs: options.agingMs ?? 30_000,
    agingShare: options.agingShare ?? 0.25,
  });
  let groups = 0;
  const dispatcher = new Dispatcher({
    queue,
    window: new BatchWindow({ ...DEFAULT_WINDOW, ...options }),
    admission: new Admission({ ...GENEROUS_BOUNDS, ...options.bounds }, () => 0),
    workers,
    newGroupId: () => `g${(groups += 1)}`,
  });
  return { queue, dispatcher };
}

export type Plan = DispatchPlan;

/** Everything that may go now, in order. Each plan is asked for when the one before is done with. */
export function* plansAt(dispatcher: Dispatcher, nowMs: number): Generator<Plan> {
  for (let plan = dispatcher.next(nowMs); plan; plan = dispatcher.next(nowMs)) yield plan;
}

/**
 * `a b quiet`: who goes together, and why. Another model than `m`, and a
 * promotion, are marked.
 */
export function describePlan({ members, reason }: Plan): string {
  const names = members.map(({ request, aged }) => request.id + (aged ? '!' : ''));
  return [...names, reason].join(' ');
}
