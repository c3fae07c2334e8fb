import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Lease } from '../../src/core/dispatch/lease.js';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { AgingTurns } from '../../src/core/order/aging-turns.js';
import { listingOf } from '../../src/core/queue/queue-places.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { RequestRecord } from '../../src/core/request/request-record.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { type Settlement } from '../../src/core/request/settlement.js';
import { aDispatcher, type Plan, plansAt } from '../support/dispatcher-harness.js';
import { FakeWorkers } from '../support/fake-workers.js';
import { aKey, aRequest } from '../support/requests.js';

const AGING_MS = 200;
const PATIENCE_MS = 500;
const MAX_SIZE = 4;
const MODELS = ['m1', 'm2', 'm3'] as const;

type Life = RequestRecord<ScheduledRequest, string>;

const failed = (code: 'worker_lost' | 'queue_timeout'): Settlement<string> => ({
  status: 'failed',
  error: new DomainError(code, code),
});
const CANCELLED: Settlement<string> = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
};

/**
 * A small scheduler over the real core: what the gateway does, without I/O, and with
 * every invariant checked on the way.
 */
class Harness {
  readonly workers = new FakeWorkers();
  readonly lives = new Map<string, Life>();
  readonly leases = new Map<string, Lease>();
  readonly slots = MODELS.map(model =>
    this.workers.add(model, { slots: model === 'm3' ? 3 : 8, maxBatch: MAX_SIZE }),
  );
  readonly #harness: ReturnType<typeof aDispatcher>;
  readonly #turns: ReadonlyMap<string, AgingTurns>;
  readonly promoted = new Set<string>();
  accepted = 0;
  refused = 0;
  settled = 0;
  nowMs = 0;
  draining = false;

  constructor(readonly agingShare: number) {
    const bounds = { maxRequestsPerModel: 30 };
    this.#harness = aDispatcher(this.workers, {
      agingMs: AGING_MS,
      agingShare,
      maxSize: MAX_SIZE,
      bounds,
    });
    this.#turns = new Map(MODELS.map(model => [model, new AgingTurns(agingShare)]));
  }

  get depth(): number {
    return this.#harness.queue.depth;
  }

  submit(model: string, priority: RequestPriority): void {
    const id = `r${this.accepted + this.refused}`;
    const { nowMs } = this;
    const request = aRequest(id, {
      model,
      priority,
      enqueuedAtMs: nowMs,
      queueDeadlineMs: nowMs + PATIENCE_MS,
    });
    if (this.#harness.dispatcher.submit(request, nowMs)) {
      this.refused += 1;
      return;
    }
    this.accepted += 1;
    this.lives.set(id, new RequestRecord(request));
  }

  /** One turn of the loop; afterwards nothing that may go now is left. */
  turn(): void {
    const { dispatcher } = this.#harness;
    for (const { id } of dispatcher.queue.aged(this.nowMs))
      if (this.lives.get(id)?.promote()) this.promoted.add(id);
    this.#checkPromotions();
    for (const { id } of dispatcher.queue.expired(this.nowMs))
      this.settle(id, failed('queue_timeout'));
    for (const plan of plansAt(dispatcher, this.nowMs)) this.#run(plan);
    expect(dispatcher.nextWakeMs(this.nowMs) ?? Infinity).toBeGreaterThan(this.nowMs);
  }

  #run(plan: Plan): void {
    this.#checkPlan(plan);
    for (const { request, lease, batchWaitMs } of plan.members) {
      this.lives.get(request.id)?.leased(plan.workerId, this.nowMs, batchWaitMs);
      expect(batchWaitMs).toBeLessThanOrEqual(this.nowMs - request.enqueuedAtMs);
      expect(this.leases.has(request.id)).toBe(false);
      this.leases.set(request.id, lease);
    }
  }

  #checkPlan({ members, model, workerId, reason }: Plan): void {
    expect(members.map(({ request }) => request.model)).toEqual(members.map(() => model));
    expect(workerId).toBe(model);
    expect(members.length).toBeGreaterThan(0);
    expect(members.length).toBeLessThanOrEqual(reason === 'single' ? 1 : MAX_SIZE);
    expect(new Set(members.map(({ request }) => request.priority)).size).toBe(1);
    const aged = members.map(({ aged }) => aged);
    expect(aged).toEqual(members.map(({ request }) => this.#isAged(request)));
    this.#checkTurn(members[0]!.request);
    this.#checkCredit(model, members[0]?.request.priority);
  }

  /** D-24: the overdraft is for REALTIME; BATCH that aged stays within the slots. */
  #checkCredit(model: string, priority: RequestPriority | undefined): void {
    const worker = this.slots.find(({ workerId }) => workerId === model);
    const { inUse, slots, maxBatch } = worker ?? {
      inUse: Infinity,
      slots: 0,
      maxBatch: 0,
    };
    expect(inUse).toBeLessThanOrEqual(
      priority === RequestPriority.REALTIME ? slots + maxBatch : slots,
    );
  }

  #isAged({
    priority,
    enqueuedAtMs,
  }: {
    priority: RequestPriority;
    enqueuedAtMs: number;
  }): boolean {
    return priority === RequestPriority.BATCH && this.nowMs - enqueuedAtMs >= AGING_MS;
  }

  /** Whoever is 200 ms old in the queue has been counted as promoted, and nobody else. */
  #checkPromotions(): void {
    for (const { request, aged } of listingOf(this.#harness.queue, this.nowMs)) {
      if (aged) expect(this.promoted.has(request.id)).toBe(true);
      else if (request.priority === RequestPriority.REALTIME)
        expect(this.promoted.has(request.id)).toBe(false);
    }
  }

  /**
   * The starvation bound, within a model: of equals nobody overtakes, and between
   * REALTIME and aged the turns decide.
   */
  #checkTurn(first: Plan['members'][number]['request']): void {
    const waiting = listingOf(this.#harness.queue, this.nowMs).filter(
      ({ request: { model } }) => model === first.model,
    );
    const rivals = waiting.filter(
      ({ request, aged }) => aged || request.priority === RequestPriority.REALTIME,
    );
    const equals = rivals.filter(({ request }) => request.priority === first.priority);
    for (const { request } of equals)
      expect(request.enqueuedAtMs).toBeGreaterThanOrEqual(first.enqueuedAtMs);
    const others = rivals
      .filter(({ request }) => request.priority !== first.priority)
      .map(({ request }) => request);
    const [other] = others.sort((a, b) => a.enqueuedAtMs - b.enqueuedAtMs);
    const isBatch = first.priority === RequestPriority.BATCH;
    const contested = other !== undefined && (!isBatch || this.#isAged(first));
    const turns = this.#turns.get(first.model)!;
    if (contested) {
      const [realtime, aged] = isBatch ? [other, first] : [first, other];
      expect(turns.isAgedNext(realtime.enqueuedAtMs, aged.enqueuedAtMs)).toBe(isBatch);
    }
    turns.taken(isBatch, contested);
  }

  running(): string[] {
    return [...this.leases.keys()];
  }

  /** The worker answers: the lease comes back, whoever was settled before. */
  answer(id: string): void {
    this.settle(id, { status: 'completed', reply: 'text' });
    this.#release(id);
  }

  /**
   * The worker dies with it: retried once as a suspect, keeping its
   * place, then `worker_lost`.
   */
  lose(id: string): void {
    const life = this.lives.get(id);
    if (life?.state === 'leased' && life.attempts < 2) {
      life.requeued();
      this.#harness.dispatcher.queue.restore({
        ...life.request,
        mostTogether: 1 + (this.settled % 3),
      });
    } else this.settle(id, failed('worker_lost'));
    this.#release(id);
  }

  cancel(id: string): void {
    const life = this.lives.get(id);
    if (life === undefined || life.state === 'settled') return;
    expect(life.workerId === undefined).toBe(life.state === 'queued');
    if (life.state === 'queued')
      expect(this.#harness.dispatcher.queue.remove(aKey(id))?.id).toBe(id);
    this.settle(id, CANCELLED);
  }

  drain(): void {
    this.draining = true;
    this.#harness.dispatcher.draining();
  }

  settle(id: string, settlement: Settlement<string>): void {
    const life = this.lives.get(id);
    if (life?.settle(settlement, this.nowMs) !== true) return;
    this.settled += 1;
    expect(life.phases.totalMs).toBe(this.nowMs - life.request.enqueuedAtMs);
  }

  #release(id: string): void {
    this.leases.get(id)?.release();
    this.leases.delete(id);
  }

  checkSums(): void {
    const states = [...this.lives.values()].map(({ state }) => state);
    const count = (wanted: string) => states.filter(state => state === wanted).length;
    expect(count('queued')).toBe(this.depth);
    expect(count('settled')).toBe(this.settled);
    expect(count('queued') + count('leased') + count('settled')).toBe(this.accepted);
    const taken = this.slots.reduce((sum, { inUse }) => sum + inUse, 0);
    expect(taken).toBe(this.leases.size);
    expect(
      this.slots.every(({ inUse, slots, maxBatch }) => inUse >= 0 && inUse <= slots + maxBatch),
    ).toBe(true);
  }
}

const pick = <T>(from: readonly T[], seed: number): T | undefined =>
  from[seed % Math.max(1, from.length)];

const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      model: fc.nat(2),
      realtime: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 5, 60, 250),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('answer' as const, 'lose' as const),
      seed: fc.nat(50),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel' as const), seed: fc.nat(200) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('ready' as const),
      model: fc.nat(2),
      ready: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('drain' as const), seed: fc.nat(30) }),
  },
);

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

function perform(harness: Harness, step: Act) {
  if (step.do === 'submit') {
    harness.submit(
      MODELS[step.model] ?? 'm1',
      step.realtime ? RequestPriority.REALTIME : RequestPriority.BATCH,
    );
  } else if (step.do === 'wait') harness.nowMs += step.ms;
  else if (step.do === 'ready') harness.workers.setReady(MODELS[step.model] ?? 'm1', step.ready);
  else if (step.do === 'cancel')
    harness.cancel(pick([...harness.lives.keys()], step.seed) ?? 'nobody');
  else if (step.do === 'drain') {
    if (step.seed === 0) harness.drain();
  } else harness[step.do](pick(harness.running(), step.seed) ?? 'nobody');
}

/** Everybody answers and time passes until nothing waits or runs. */
function finish(harness: Harness) {
  for (let rounds = 0; harness.depth + harness.leases.size > 0 && rounds < 100; rounds += 1) {
    harness.running().forEach(id => harness.answer(id));
    harness.nowMs += 50;
    harness.turn();
  }
}

describe('Dispatcher, whatever happens', () => {
  it.each([0.25, 1, 0.3])(
    'keeps order, turns, groups, sums and slots, and settles everybody exactly once, share %d',
    agingShare => {
      fc.assert(
        fc.property(fc.array(act, { maxLength: 150, size: 'max' }), steps => {
          const harness = new Harness(agingShare);
          for (const step of steps) {
            perform(harness, step);
            harness.turn();
            harness.checkSums();
          }
          finish(harness);
          harness.checkSums();
          expect([harness.depth, harness.leases.size, harness.settled]).toEqual([
            0,
            0,
            harness.accepted,
          ]);
          expect(harness.slots.map(({ inUse }) => inUse)).toEqual([0, 0, 0]);
        }),
        { numRuns: 150 },
      );
    },
  );
});
