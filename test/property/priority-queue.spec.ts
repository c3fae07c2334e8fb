import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { listingOf } from '../../src/core/queue/queue-places.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { aKey, aRequest } from '../support/requests.js';

const modelsOf = ({ lanes }: PriorityQueue): string[] => [
  ...new Set(lanes.map(({ model }) => model)),
];

const AGING_MS = 100;
type Request = ScheduledRequest;

/**
 * The queue as a list that anybody can check by eye: sorted when asked, no structure to
 * go wrong. With a share of 1 it is the rule of the source document: by (effective
 * priority, enqueue time), and nothing else.
 */
class ListModel {
  requests: Request[] = [];
  nowMs = 0;
  made = 0;
  taken: Request[] = [];
  /**
   * Of each model: turns of the contest so far, and those of them that were aged ones.
   */
  readonly turns = new Map<string, { all: number; aged: number }>();

  constructor(readonly share: number) {}

  /**
   * (effective priority, enqueue time, REALTIME before aged BATCH of the same instant).
   */
  rank(request: Request): [number, number, number] {
    return [this.isAged(request) ? 0 : request.priority, request.enqueuedAtMs, request.priority];
  }

  /**
   * The model that goes next, and of several of equal rank `like`; then whose turn
   * it is there.
   */
  best(exceptModel: string, like?: string): Request | undefined {
    const [first] = this.sorted(({ model }) => model !== exceptModel);
    const [own] = this.sorted(({ model }) => model === like);
    return (
      first && this.inTurn(own && compare(this.rank(own), this.rank(first)) === 0 ? own : first)
    );
  }

  sorted(accepts: (request: Request) => boolean): Request[] {
    return this.requests.filter(accepts).sort((a, b) => compare(this.rank(a), this.rank(b)));
  }

  /**
   * Of the model that is served: the aged one in every turn that brings its share to
   * a whole number.
   */
  inTurn(first: Request): Request {
    const aged = this.sorted(other => other.model === first.model && this.isAged(other))[0];
    const realtime = this.sorted(other => other.model === first.model && !other.priority)[0];
    if (this.share === 1 || !aged || !realtime) return first;
    const turns = this.turns.get(first.model) ?? { all: 0, aged: 0 };
    return Math.floor((turns.all + 1) * this.share + 1e-6) > turns.aged ? aged : realtime;
  }

  isAged({ priority, enqueuedAtMs }: Request): boolean {
    return priority === RequestPriority.BATCH && this.nowMs - enqueuedAtMs >= AGING_MS;
  }

  isContested(model: string): boolean {
    const own = this.requests.filter(request => request.model === model);
    return own.some(request => this.isAged(request)) && own.some(({ priority }) => !priority);
  }

  take(request: Request): void {
    const { all, aged } = this.turns.get(request.model) ?? { all: 0, aged: 0 };
    const counted = { all: all + 1, aged: aged + request.priority };
    this.turns.set(request.model, this.isContested(request.model) ? counted : { all: 0, aged: 0 });
    this.remove(request.id);
  }

  /** Who goes when, if nobody else comes. */
  order(model: string): Request[] {
    const copy = new ListModel(this.share);
    Object.assign(copy, {
      nowMs: this.nowMs,
      requests: this.requests.filter(request => request.model === model),
    });
    copy.turns.set(model, this.turns.get(model) ?? { all: 0, aged: 0 });
    const order: Request[] = [];
    for (let next = copy.best(''); next; next = copy.best('')) {
      copy.take(next);
      order.push(next);
    }
    return order;
  }

  remove(id: string): void {
    this.requests = this.requests.filter(request => request.id !== id);
  }
}

const compare = (a: readonly number[], b: readonly number[]) =>
  a.reduce((found, value, index) => found || value - (b[index] ?? 0), 0);

interface Real {
  readonly queue: PriorityQueue;
}

type Step = fc.Command<ListModel, Real>;

/** Every step ends by comparing all that can be counted. */
function step(name: string, act: (model: ListModel, real: Real) => void): Step {
  return {
    check: () => true,
    toString: () => name,
    run: (model, real) => {
      act(model, real);
      expect(countsOf(real.queue)).toEqual(countsOfModel(model));
    },
  };
}

function countsOf(queue: PriorityQueue) {
  const models = modelsOf(queue).sort();
  const { depth, bytes, nextDeadlineMs } = queue;
  return {
    depth,
    bytes,
    nextDeadlineMs,
    ...queue.depthByPriority(),
    models: models.map(m => [m, queue.depthOf(m)]),
  };
}

function countsOfModel({ requests }: ListModel) {
  const of = (some: readonly Request[]) => ({
    realtime: some.filter(({ priority }) => priority === RequestPriority.REALTIME).length,
    batch: some.filter(({ priority }) => priority === RequestPriority.BATCH).length,
    bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  const models = [...new Set(requests.map(({ model }) => model))].sort();
  const deadlines = requests.map(({ queueDeadlineMs }) => queueDeadlineMs);
  return {
    depth: requests.length,
    nextDeadlineMs: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    ...of(requests),
    models: models.map(model => [model, of(requests.filter(request => request.model === model))]),
  };
}

const enqueue = fc
  .record({
    model: fc.constantFrom('m1', 'm2', 'm3'),
    priority: fc.constantFrom(RequestPriority.REALTIME, RequestPriority.BATCH),
    bytes: fc.nat(9),
    costMs: fc.constantFrom(1, 7, 1000),
    patienceMs: fc.constantFrom(50, 120, 120, 1_000),
    afterMs: fc.constantFrom(0, 0, 1, 40),
  })
  .map(({ patienceMs, afterMs, ...fields }) =>
    step(`enqueue ${JSON.stringify(fields)}`, (model, { queue }) => {
      model.nowMs += afterMs;
      const enqueuedAtMs = model.nowMs;
      const id = `r${(model.made += 1)}`;
      const request = aRequest(id, {
        ...fields,
        enqueuedAtMs,
        queueDeadlineMs: enqueuedAtMs + patienceMs,
      });
      queue.enqueue(request);
      model.requests.push(request);
    }),
  );

const take = fc.constantFrom('', 'm1', 'm2').map(held =>
  step(`take, ${held || 'nobody'} held back`, (model, { queue }) => {
    const taken = queue.pick(model.nowMs, lane =>
      lane.model === held ? undefined : queue.take(lane, 1)[0],
    );
    const expected = model.best(held, taken?.model);
    expect(rankOf(model, taken)).toEqual(rankOf(model, expected));
    if (taken === undefined) return;
    expect(oldestOfLane(model, taken)).toBe(taken.id);
    model.take(taken);
    model.taken.push(taken);
  }),
);

/** What a request is charged changes nothing for a single tenant. */
const measure = fc.nat(2000).map(deviceMs =>
  step(`the last one took ${deviceMs} ms`, (model, { queue }) => {
    const last = model.taken.at(-1);
    if (last !== undefined) queue.measured(last, deviceMs);
  }),
);

const rankOf = (model: ListModel, request: Request | undefined) => request && model.rank(request);

/** First in, first out within one model and priority. */
function oldestOfLane({ requests }: ListModel, { model, priority }: Request): string | undefined {
  const lane = requests.filter(request => request.model === model && request.priority === priority);
  return lane.sort((a, b) => a.enqueuedAtMs - b.enqueuedAtMs)[0]?.id;
}

const restore = fc.constant(
  step('restore the last one taken', (model, { queue }) => {
    const last = model.taken.pop();
    if (last === undefined) return;
    queue.restore(last);
    model.requests.unshift(last);
  }),
);

const remove = fc.nat(100).map(seed =>
  step('remove one', (model, { queue }) => {
    const victim = model.requests[seed % Math.max(1, model.requests.length)];
    expect(queue.remove(aKey(victim?.id ?? 'nobody'))).toBe(victim);
    if (victim !== undefined) model.remove(victim.id);
  }),
);

const expire = fc.constantFrom(0, 30, 200).map(afterMs =>
  step(`expire after ${afterMs} ms`, (model, { queue }) => {
    model.nowMs += afterMs;
    const due = model.requests.filter(({ queueDeadlineMs }) => queueDeadlineMs <= model.nowMs);
    const gone = queue.expired(model.nowMs);
    expect(new Set(gone)).toEqual(new Set(due));
    expect(gone.map(({ queueDeadlineMs }) => queueDeadlineMs)).toEqual(
      due.map(d => d.queueDeadlineMs).sort((a, b) => a - b),
    );
    due.forEach(({ id }) => model.remove(id));
  }),
);

const list = fc.constant(
  step('list', (model, { queue }) => {
    const views = listingOf(queue, model.nowMs);
    const listed = views.map(({ request }) => request);
    expect(new Set(listed)).toEqual(new Set(model.requests));
    for (const name of modelsOf(queue)) {
      const own = views.filter(({ request }) => request.model === name);
      expect(own.map(({ position }) => position)).toEqual(own.map((_, index) => index + 1));
      const ranks = own.map(({ request }) => model.rank(request));
      expect(ranks).toEqual(model.order(name).map(request => model.rank(request)));
    }
    if (model.share < 1) return;
    const ranks = listed.map(request => model.rank(request).slice(0, 2));
    expect(ranks).toEqual([...ranks].sort(compare));
  }),
);

describe('PriorityQueue against a plain list', () => {
  it.each([1, 0.25, 0.5, 0.3, 0.75])(
    'agrees on order, turns, first in first out, depth, bytes and deadlines after any 60 commands, share %d',
    agingShare => {
      const commands = fc.commands(
        [enqueue, enqueue, enqueue, take, take, measure, restore, remove, expire, list],
        {
          maxCommands: 60,
          size: 'max',
        },
      );
      fc.assert(
        fc.property(commands, steps => {
          const queue = new PriorityQueue({ agingMs: AGING_MS, agingShare });
          fc.modelRun(() => ({ model: new ListModel(agingShare), real: { queue } }), steps);
        }),
        { numRuns: 200 },
      );
    },
  );
});
