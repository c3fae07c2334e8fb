import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type WorkerOffer } from '../../core/dispatch/worker.port.js';
import { favourite, leastLoaded, withoutAvoided } from './worker-choice.js';

const worker = (workerId: string, free: number, total: number, latencyMs = 0): WorkerOffer => ({
  workerId,
  free,
  urgent: free + 4,
  idle: free === total,
  maxBatch: 4,
  total,
  latencyMs,
});
const chosen = (...offers: WorkerOffer[]) => leastLoaded(offers)?.workerId;

describe('leastLoaded', () => {
  it('takes the largest free share: 4 of 4 before 30 of 64', () => {
    expect(chosen(worker('large', 30, 64), worker('small', 4, 4))).toBe('small');
  });

  it('takes the faster of two that are equally free, and tries an unknown one first', () => {
    expect(chosen(worker('slow', 4, 8, 90), worker('fast', 8, 16, 20))).toBe('slow');
    expect(chosen(worker('slow', 4, 8, 90), worker('fast', 4, 8, 20))).toBe('fast');
    expect(chosen(worker('fast', 4, 8, 20), worker('new', 4, 8))).toBe('new');
  });

  it('keeps the first of equals, and has none of none', () => {
    expect(chosen(worker('a', 4, 8), worker('b', 4, 8))).toBe('a');
    expect(chosen()).toBeUndefined();
  });

  const offers = fc.array(
    fc
      .record({
        total: fc.integer({ min: 1, max: 64 }),
        taken: fc.integer({ min: 0, max: 80 }),
        latencyMs: fc.nat(500),
      })
      .map(({ total, taken, latencyMs }) => ({
        total,
        free: Math.max(0, total - taken),
        latencyMs,
      })),
    { minLength: 1, maxLength: 8 },
  );

  it('never leaves a freer worker out, nor a faster one that is as free', () => {
    fc.assert(
      fc.property(offers, drawn => {
        const workers = drawn.map(({ free, total, latencyMs }, index) =>
          worker(String(index), free, total, latencyMs),
        );
        const best = workers[Number(leastLoaded(workers)?.workerId)]!;
        for (const other of workers) {
          const share = ({ free, total }: WorkerOffer) => free / total;
          expect(share(best)).toBeGreaterThanOrEqual(share(other));
          if (share(best) === share(other) && best.total === other.total) {
            expect(best.latencyMs).toBeLessThanOrEqual(other.latencyMs);
          }
        }
      }),
    );
  });

  it('sends nobody to an overdraft while some worker has a free slot', () => {
    fc.assert(
      fc.property(offers, drawn => {
        const workers = drawn.map(({ free, total, latencyMs }, index) =>
          worker(String(index), free, total, latencyMs),
        );
        if (workers.some(({ free }) => free > 0))
          expect(leastLoaded(workers)?.free).toBeGreaterThan(0);
      }),
    );
  });
});

describe('favourite', () => {
  const keys = Array.from({ length: 400 }, (_, index) => `key-${index}`);
  const ids = ['m-0', 'm-1', 'm-2', 'm-3'];
  const empty = ids.map(id => worker(id, 8, 8));
  const of = (key: string, offers: readonly WorkerOffer[]) => favourite(offers, key)?.workerId;

  it('is the same for the same key, in whatever order they are offered, and spreads keys evenly', () => {
    const counts = new Map<string, number>();
    for (const key of keys) {
      const id = of(key, empty)!;
      expect(of(key, empty.toReversed())).toBe(id);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const id of ids) expect(counts.get(id)).toBeGreaterThan(60);
  });

  it('moves only the keys of a worker that goes', () => {
    for (const key of keys) {
      const before = of(key, empty);
      const after = of(key, empty.slice(0, 3));
      if (before !== 'm-3') expect(after).toBe(before);
    }
  });

  it('is kept at 2 slots of 8 more in use than elsewhere, and left at 3', () => {
    for (const key of keys) {
      const loved = of(key, empty)!;
      const used = (count: number) => ids.map(id => worker(id, id === loved ? 8 - count : 8, 8));
      expect(of(key, used(2))).toBe(loved);
      expect(of(key, used(3))).not.toBe(loved);
    }
  });

  it('is whoever is least loaded when no worker has a free slot, and nobody of none', () => {
    expect(of('k', [worker('a', 0, 8), worker('b', 0, 4)])).toBe('b');
    expect(of('k', [])).toBeUndefined();
  });
});

describe('a request that some workers gave back', () => {
  const standing = (id: string, state: 'ready' | 'lost' = 'ready', isTrusted = true) => ({
    id,
    state,
    isTrusted,
  });
  const left = (offers: WorkerOffer[], workers: ReturnType<typeof standing>[]) =>
    withoutAvoided(offers, workers, ['sick']).map(({ workerId }) => workerId);
  const sick = worker('sick', 4, 4);

  it('goes to another one with a free slot', () => {
    expect(left([sick, worker('other', 1, 4)], [standing('sick'), standing('other')])).toEqual([
      'other',
    ]);
  });

  it('waits for another one that serves, while the one that gave it back goes on refusing', () => {
    expect(left([sick], [standing('sick', 'ready', false), standing('other')])).toEqual([]);
    expect(
      left([sick, worker('other', 0, 4)], [standing('sick', 'ready', false), standing('other')]),
    ).toEqual(['other']);
  });

  it('comes again to one that has answered others since, rather than wait', () => {
    expect(left([sick], [standing('sick'), standing('other')])).toEqual(['sick']);
  });

  it('comes again to the same one when no other serves', () => {
    expect(left([sick], [standing('sick', 'ready', false), standing('other', 'lost')])).toEqual([
      'sick',
    ]);
  });
});
