import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Lease } from '../../src/core/dispatch/lease.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { RetryBudget } from '../../src/core/request/retry-budget.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { WorkerLostError } from '../../src/core/request/worker-lost.js';
import { aDispatcher, plansAt } from '../support/dispatcher-harness.js';
import { type FakeWorker, FakeWorkers } from '../support/fake-workers.js';
import { aRequest } from '../support/requests.js';

interface Member {
  readonly isPoisoned: boolean;
  readonly budget: RetryBudget;
  /** How many were lost with it each time. */
  readonly losses: number[];
  end?: string;
}

interface Held {
  readonly request: ScheduledRequest;
  readonly lease: Lease;
}

/**
 * Workers that compute up to `maxBatch` of what they have in one call, and die of
 * a poisoned member.
 */
class World {
  readonly members = new Map<string, Member>();
  readonly #workers = new FakeWorkers();
  readonly #held = new Map<FakeWorker, Held[]>();
  readonly #harness: ReturnType<typeof aDispatcher>;
  #nowMs = 0;

  constructor(
    replicas: number,
    private readonly maxBatch: number,
  ) {
    for (let number = 0; number < replicas; number += 1) {
      const options = { workerId: `w${number}`, slots: 2 * maxBatch, maxBatch };
      this.#held.set(this.#workers.add('m', options), []);
    }
    this.#harness = aDispatcher(this.#workers, { maxSize: maxBatch });
  }

  get isOver(): boolean {
    return [...this.members.values()].every(({ end }) => end !== undefined);
  }

  submit(isPoisoned: boolean, isRealtime: boolean): void {
    const id = `r${this.members.size}`;
    const priority = isRealtime ? RequestPriority.REALTIME : RequestPriority.BATCH;
    this.members.set(id, { isPoisoned, budget: new RetryBudget(), losses: [] });
    this.#harness.dispatcher.submit(
      aRequest(id, { priority, enqueuedAtMs: this.#nowMs }),
      this.#nowMs,
    );
  }

  /** Sends all that may go, then one worker makes an engine call. */
  step(seed: number): void {
    const { dispatcher } = this.#harness;
    this.#nowMs += 100;
    for (const plan of plansAt(dispatcher, this.#nowMs)) {
      const { workerId } = plan;
      const worker = [...this.#held.keys()].find(one => one.workerId === workerId)!;
      this.#held
        .get(worker)!
        .push(...plan.members.map(({ request, lease }) => ({ request, lease })));
      this.#checkCompany(worker);
    }
    expect(dispatcher.nextWakeMs(this.#nowMs) ?? Infinity).toBeGreaterThan(this.#nowMs);
    const busy = [...this.#held].filter(([, held]) => held.length > 0);
    const chosen = busy[seed % Math.max(1, busy.length)];
    if (chosen) this.#compute(...chosen);
    else expect(this.#harness.queue.depth).toBe(0);
  }

  #checkCompany(worker: FakeWorker): void {
    const limits = this.#held.get(worker)!.map(({ request }) => request.mostTogether);
    const suspects = limits.filter(limit => limit !== undefined);
    if (suspects.length === 0) return;
    expect(suspects.length).toBe(limits.length);
    expect(limits.length).toBeLessThanOrEqual(Math.min(this.maxBatch, ...suspects));
  }

  #compute(worker: FakeWorker, held: readonly Held[]): void {
    const group = held.slice(0, this.maxBatch);
    const dies = group.some(({ request }) => this.members.get(request.id)!.isPoisoned);
    this.#held.set(worker, dies ? [] : held.slice(group.length));
    for (const { request, lease } of dies ? held : group) {
      if (dies) this.#lost(request, worker, held.length);
      else this.members.get(request.id)!.end = 'completed';
      lease.release();
    }
  }

  #lost(request: ScheduledRequest, { workerId }: FakeWorker, together: number): void {
    const member = this.members.get(request.id)!;
    member.losses.push(together);
    const code = member.budget.spend(
      workerId,
      new WorkerLostError('died', 'dead', undefined, together),
    );
    if (code) member.end = code;
    else
      this.#harness.dispatcher.queue.restore({
        ...request,
        mostTogether: member.budget.mostTogether,
      });
  }
}

const members = fc.array(fc.record({ isPoisoned: fc.boolean(), isRealtime: fc.boolean() }), {
  minLength: 1,
  maxLength: 24,
});

describe('a request that ends its worker', () => {
  it('fails alone, for every set of them: its retries cost ⌈log2 n⌉ + 1 deaths at most, all others are answered', () => {
    const run = (
      given: { isPoisoned: boolean; isRealtime: boolean }[],
      shape: number[],
      seeds: number[],
    ) => {
      const [replicas = 1, maxBatch = 8, later = 0] = shape;
      const world = new World(replicas, maxBatch);
      const [first, rest] = [given.slice(later), given.slice(0, later)];
      for (const { isPoisoned, isRealtime } of first) world.submit(isPoisoned, isRealtime);
      for (let step = 0; !world.isOver || rest.length > 0; step += 1) {
        expect(step).toBeLessThan(1000);
        const next = rest.pop();
        if (next) world.submit(next.isPoisoned, next.isRealtime);
        world.step(seeds[step % seeds.length]!);
      }
      for (const { isPoisoned, losses, end } of world.members.values()) {
        expect(end).toBe(isPoisoned ? 'worker_crashed' : 'completed');
        const [together, ...retries] = losses;
        if (together === undefined) continue;
        expect(retries.length).toBeLessThanOrEqual(Math.ceil(Math.log2(together)) + 1);
        if (together > 4)
          expect(losses.length).toBeLessThanOrEqual(Math.ceil(Math.log2(together)) + 1);
        losses
          .slice(1, 2)
          .forEach(size => expect(size).toBeLessThanOrEqual(Math.max(1, together / 2)));
        losses.slice(2).forEach(size => expect(size).toBe(1));
      }
    };
    const shape = fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(12),
    );
    fc.assert(
      fc.property(members, shape, fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }), run),
      { numRuns: 500 },
    );
  });
});
