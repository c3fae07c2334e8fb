import { EMPTY } from 'rxjs';
import { BatchWindow } from '../../src/core/batching/batch-window.js';
import { Dispatcher } from '../../src/core/dispatch/dispatcher.js';
import { Lease } from '../../src/core/dispatch/lease.js';
import { type SlotOffer, type WorkerPort } from '../../src/core/dispatch/worker.port.js';
import { Admission } from '../../src/core/queue/admission.js';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { aKey } from '../support/requests.js';
import { median } from './support/percentiles.js';

const QUEUED = 100_000;
const MODELS = 100;
const ROUND_MS = 1_000;
const ROUNDS = 5;
const MIN_PER_SECOND = 500_000;

const nothing = (): void => undefined;

/**
 * One ready worker per model whose device is busy and whose credits never end: the queue
 * is what is measured.
 */
class EndlessWorkers implements WorkerPort {
  readonly capacity$ = EMPTY;
  readonly #offers: ReadonlyMap<string, SlotOffer>;

  constructor(models: readonly string[], maxBatch: number) {
    const room = { free: maxBatch, urgent: 2 * maxBatch, idle: false, maxBatch };
    this.#offers = new Map(models.map(model => [model, { workerId: model, ...room }]));
  }

  offer(model: string): SlotOffer | undefined {
    return this.#offers.get(model);
  }

  lease(_workerId: string, count: number): readonly Lease[] {
    const leases: Lease[] = [];
    while (leases.length < count) leases.push(new Lease(nothing));
    return leases;
  }
}

interface Harness {
  readonly queue: PriorityQueue;
  readonly dispatcher: Dispatcher;
  nextRequest(): ScheduledRequest;
}

/** 100,000 waiting over 100 models, a tenth of them REALTIME. */
function fullHarness(maxBatch: number): Harness {
  const models = Array.from({ length: MODELS }, (_, index) => `model-${index}`);
  const queue = new PriorityQueue({ agingMs: 30_000, agingShare: 0.25 });
  const unbounded = {
    maxRequests: 1e9,
    maxRequestsPerModel: 1e9,
    maxBytes: 1e15,
    maxBytesPerModel: 1e15,
    realtimeReserve: 0,
  };
  let groups = 0;
  const dispatcher = new Dispatcher({
    queue,
    window: new BatchWindow({
      policy: 'adaptive',
      maxSize: 8,
      windowMs: 50,
      quietGapMs: 5,
    }),
    admission: new Admission(unbounded, () => 0),
    workers: new EndlessWorkers(models, maxBatch),
    newGroupId: () => `group-${(groups += 1)}`,
  });
  let made = 0;
  const nextRequest = (): ScheduledRequest => {
    const index = (made += 1);
    return {
      id: `req_${index}`,
      key: aKey(`req_${index}`),
      model: models[(index * 31) % MODELS] ?? '',
      priority: index % 10 === 0 ? RequestPriority.REALTIME : RequestPriority.BATCH,
      costMs: 1,
      bytes: 100_000,
      enqueuedAtMs: index / 1000,
      queueDeadlineMs: index / 1000 + 120_000,
      inferenceTimeoutMs: 30_000,
    };
  };
  for (let index = 0; index < QUEUED; index += 1) queue.enqueue(nextRequest());
  return { queue, dispatcher, nextRequest };
}

/** Pairs of submit and dispatch per second at a constant depth of 100,000. */
function dispatchPerSecond(maxBatch: number): number {
  const { queue, dispatcher, nextRequest } = fullHarness(maxBatch);
  return perSecond(() => {
    const plan = dispatcher.next(queue.depth / 1000);
    const left = plan?.members.length ?? 0;
    for (let index = 0; index < left; index += 1) dispatcher.submit(nextRequest(), 0);
    return left;
  });
}

/** Cancels of a random queued request per second, each replaced by a newcomer. */
function cancelPerSecond(): number {
  const { dispatcher, nextRequest } = fullHarness(8);
  const waiting = Array.from({ length: QUEUED }, (_, index) => `req_${index + 1}`);
  let seed = 1;
  return perSecond(() => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const place = seed % QUEUED;
    const withdrawn = dispatcher.queue.remove(aKey(waiting[place] ?? ''));
    const request = nextRequest();
    dispatcher.submit(request, 0);
    waiting[place] = request.id;
    return withdrawn === undefined ? 0 : 1;
  });
}

/** Work done per second: the median of five rounds, after half a round to warm up. */
function perSecond(work: () => number): number {
  measure(work, ROUND_MS / 2);
  const rounds = Array.from({ length: ROUNDS }, () => measure(work, ROUND_MS));
  return Math.round(median(rounds));
}

function measure(work: () => number, forMs: number): number {
  const startedAtMs = performance.now();
  let done = 0;
  let elapsedMs = 0;
  while (elapsedMs < forMs) {
    for (let index = 0; index < 1000; index += 1) done += work();
    elapsedMs = performance.now() - startedAtMs;
  }
  return (done / elapsedMs) * 1000;
}

/**
 * Bench `core`: what the queue and the dispatcher cost with 100,000 requests waiting
 * over 100 models.
 */
export function run(): Promise<{
  results: Record<string, number>;
  goals: { name: string; value: number; aim: string; met: boolean }[];
}> {
  const singles = dispatchPerSecond(1);
  const groups = dispatchPerSecond(8);
  const cancels = cancelPerSecond();
  const results = {
    queued: QUEUED,
    models: MODELS,
    singlesPerSecond: singles,
    groupedPerSecond: groups,
    cancels,
  };
  const goals = [
    { name: 'enqueue + dequeue per second, groups of one', value: singles },
    { name: 'enqueue + dequeue per second, groups of up to 8', value: groups },
  ].map(goal => ({
    ...goal,
    aim: `>= ${MIN_PER_SECOND}`,
    met: goal.value >= MIN_PER_SECOND,
  }));
  return Promise.resolve({ results, goals });
}
