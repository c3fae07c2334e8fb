import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RecentLatency } from './recent-latency.js';
import { leastLoaded, type WorkerOffer } from './worker-choice.js';

const worker = (workerId: string, free: number, total: number, latencyMs = 0): WorkerOffer => ({
  offer: { workerId, free, urgent: free + 4, idle: free === total, maxBatch: 4 },
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
      .map(({ total, taken, latencyMs }) => ({ total, free: Math.max(0, total - taken), latencyMs })),
    { minLength: 1, maxLength: 8 },
  );

  it('never leaves a freer worker out, nor a faster one that is as free', () => {
    fc.assert(
      fc.property(offers, drawn => {
        const workers = drawn.map(({ free, total, latencyMs }, index) => worker(String(index), free, total, latencyMs));
        const best = workers[Number(leastLoaded(workers)?.workerId)]!;
        for (const other of workers) {
          const share = ({ offer, total }: WorkerOffer) => offer.free / total;
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
        const workers = drawn.map(({ free, total, latencyMs }, index) => worker(String(index), free, total, latencyMs));
        if (workers.some(({ offer }) => offer.free > 0)) expect(leastLoaded(workers)?.free).toBeGreaterThan(0);
      }),
    );
  });
});

describe('RecentLatency', () => {
  it('starts with the first answer and forgets old ones', () => {
    const latency = new RecentLatency();
    expect(latency.ms).toBe(0);
    latency.add(100);
    expect(latency.ms).toBe(100);
    for (let answer = 0; answer < 30; answer += 1) latency.add(20);
    expect(latency.ms).toBeCloseTo(20, 0);
  });
});
