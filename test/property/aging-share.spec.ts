import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Lease } from '../../src/core/dispatch/lease.js';
import { listingOf } from '../../src/core/queue/queue-places.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { aDispatcher } from '../support/dispatcher-harness.js';
import { FakeWorkers } from '../support/fake-workers.js';
import { aRequest } from '../support/requests.js';

const SERVICE_MS = 10;
const AGING_MS = 60;
const SHARES = [0.25, 0.5, 0.1, 0.3, 0.4, 0.75] as const;

interface Arrival {
  readonly afterMs: number;
  readonly realtime: boolean;
}

interface Life {
  readonly atMs: number;
  readonly realtime: boolean;
  /** What it would wait if BATCH did not exist from its arrival on. */
  readonly withoutBatchMs: number;
  /** Turns of the device before it aged. */
  agedAfterTurns: number;
  /** Aged requests ahead of it when it aged. */
  agedAhead: number;
  waitMs: number;
  turnsWaited: number;
}

/**
 * One slot, one model, a fixed service time: what the bounds of D-03 are about. Time
 * in whole milliseconds.
 */
class OneSlot {
  readonly lives = new Map<string, Life>();
  /**
   * Of each turn, in order: `a`ged or REALTIME while both waited; `-` when nobody
   * else wanted it.
   */
  turns = '';
  readonly #workers = new FakeWorkers();
  readonly #core;
  #nowMs = 0;
  #lease: Lease | undefined;
  #freeAtMs = 0;
  #realtimeRuns = false;

  constructor(agingShare: number) {
    this.#workers.add('m', { slots: 1, maxBatch: 1, overdraft: 0, busy: true });
    this.#core = aDispatcher(this.#workers, { agingMs: AGING_MS, agingShare });
  }

  run(arrivals: readonly Arrival[]): void {
    for (const arrival of arrivals) {
      for (let left = arrival.afterMs; left > 0; left -= 1) this.#tick();
      this.#arrive(arrival);
      this.#turn();
    }
    while (this.#core.queue.depth > 0) this.#tick();
  }

  #tick(): void {
    this.#nowMs += 1;
    this.#turn();
  }

  #arrive({ realtime }: Arrival): void {
    const id = `r${this.lives.size}`;
    const ahead = this.#core.queue.depthByPriority().realtime;
    const restMs = this.#realtimeRuns ? Math.max(0, this.#freeAtMs - this.#nowMs) : 0;
    this.lives.set(id, {
      atMs: this.#nowMs,
      realtime,
      withoutBatchMs: restMs + ahead * SERVICE_MS,
      agedAfterTurns: Infinity,
      agedAhead: 0,
      waitMs: Infinity,
      turnsWaited: 0,
    });
    const priority = realtime ? RequestPriority.REALTIME : RequestPriority.BATCH;
    this.#core.dispatcher.submit(
      aRequest(id, { priority, enqueuedAtMs: this.#nowMs, queueDeadlineMs: 1e9 }),
      this.#nowMs,
    );
  }

  #turn(): void {
    const nowMs = this.#nowMs;
    if (this.#lease && nowMs >= this.#freeAtMs) {
      const lease = this.#lease;
      this.#lease = undefined;
      lease.release();
    }
    this.#age();
    if (this.#lease) return;
    const rivals = listingOf(this.#core.queue, nowMs);
    const plan = this.#core.dispatcher.next(nowMs);
    if (!plan) return;
    const { request, lease, aged } = plan.members[0]!;
    const contested =
      rivals.some(rival => rival.aged) && rivals.some(({ request: { priority } }) => !priority);
    this.turns += contested ? (aged ? 'a' : 'R') : '-';
    const life = this.lives.get(request.id)!;
    life.waitMs = nowMs - life.atMs;
    life.turnsWaited = this.turns.length - life.agedAfterTurns;
    this.#lease = lease;
    this.#freeAtMs = nowMs + SERVICE_MS;
    this.#realtimeRuns = request.priority === RequestPriority.REALTIME;
  }

  #age(): void {
    for (const { id } of this.#core.dispatcher.queue.aged(this.#nowMs)) {
      const life = this.lives.get(id)!;
      life.agedAfterTurns = this.turns.length;
      const aged = listingOf(this.#core.queue, this.#nowMs).filter(view => view.aged);
      life.agedAhead = aged.findIndex(({ request }) => request.id === id);
    }
  }

  of(realtime: boolean): Life[] {
    return [...this.lives.values()].filter(life => life.realtime === realtime);
  }
}

/** Bursts and quiet, at about what the slot can do and above. */
const arrivals = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 0, 0, 1, 5, 10, 20, 100),
    realtime: fc.boolean(),
  }),
  {
    minLength: 20,
    maxLength: 120,
    size: 'max',
  },
);

function played(agingShare: number, history: readonly Arrival[]): OneSlot {
  const harness = new OneSlot(agingShare);
  harness.run(history);
  return harness;
}

describe('the aging share (D-03), one slot', () => {
  it.each(SHARES)(
    'REALTIME waits at most 1 / (1 - share) times what it would wait without BATCH, plus one service time, share %d',
    share => {
      // Exact for one turn in a whole number of turns. For others the service time counts
      // as often as the rest: turns are whole, so a share of 0.3 gives aged requests 2 of
      // some 5 turns.
      const serviceMs = Number.isInteger(1 / share) ? SERVICE_MS : SERVICE_MS / (1 - share);
      fc.assert(
        fc.property(arrivals, history => {
          for (const { waitMs, withoutBatchMs } of played(share, history).of(true))
            expect(waitMs).toBeLessThanOrEqual(withoutBatchMs / (1 - share) + serviceMs + 1e-6);
        }),
        { numRuns: 50 },
      );
    },
  );

  it.each(SHARES)(
    'an aged request waits at most 1 / share turns for itself and each aged one ahead, share %d',
    share => {
      const turnsEach = Math.ceil(1 / share - 1e-9);
      fc.assert(
        fc.property(arrivals, history => {
          for (const { turnsWaited, agedAhead, agedAfterTurns } of played(share, history).of(false))
            if (agedAfterTurns < Infinity)
              expect(turnsWaited).toBeLessThanOrEqual((agedAhead + 1) * turnsEach);
        }),
        { numRuns: 50 },
      );
    },
  );

  it.each(SHARES)(
    'exactly that share of the turns of a contest is aged, whatever comes, share %d',
    share => {
      fc.assert(
        fc.property(arrivals, history => {
          for (const contest of played(share, history).turns.split('-')) {
            const aged = [...contest].filter(turn => turn === 'a').length;
            expect(aged).toBe(Math.floor(contest.length * share + 1e-6));
          }
        }),
        { numRuns: 50 },
      );
    },
  );

  it('a backlog of 200 BATCH requests holds REALTIME for a turn or two; with a share of 1 for the whole of it', () => {
    const backlog = Array.from({ length: 200 }, () => ({ afterMs: 0, realtime: false }));
    const late = [...backlog, { afterMs: 31 * SERVICE_MS, realtime: true }];
    expect(played(0.25, late).of(true)[0]?.waitMs).toBeLessThanOrEqual(SERVICE_MS);
    expect(played(1, late).of(true)[0]?.waitMs).toBeGreaterThan(160 * SERVICE_MS);
  });
});
