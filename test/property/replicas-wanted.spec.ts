import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ReplicaDemand, replicasWanted } from '../../src/core/forecast/replicas-wanted.js';

const work = fc.integer({ min: 1, max: 5000 });
const demand: fc.Arbitrary<ReplicaDemand> = fc.record({
  waiting: fc.array(
    fc
      .record({
        workMs: work,
        allowedMs: fc.integer({ min: 500, max: 60_000 }),
        used: fc.double({ min: 0, max: 0.5, noNaN: true }),
      })
      .map(({ used, ...one }) => ({ ...one, startInMs: one.allowedMs * (1 - used) })),
    { maxLength: 60 },
  ),
  running: fc.array(work, { maxLength: 20 }),
  load: fc.double({ min: 0, max: 20, noNaN: true }),
  devices: fc.integer({ min: 1, max: 8 }),
});

/** How many milliseconds each request would be late; written by itself, with a plain list. */
function lateness({ waiting, running, devices }: ReplicaDemand, replicas: number): number[] {
  const free = Array<number>(replicas * devices).fill(0);
  const take = (workMs: number): number => {
    const at = free.indexOf(Math.min(...free));
    const startMs = free[at]!;
    free[at] = startMs + workMs;
    return startMs;
  };
  running.forEach(take);
  return waiting.map(({ workMs, startInMs }) => take(workMs) - startInMs);
}

describe('the number of replicas that is wanted', () => {
  it('is the least one with which all that waits starts in time', () => {
    fc.assert(
      fc.property(demand, of => {
        const idle = { ...of, load: 0 };
        const wanted = replicasWanted(idle);
        fc.pre(wanted < 1024);
        if (wanted > 0) expect(Math.max(0, ...lateness(idle, wanted))).toBe(0);
        if (wanted > 1) expect(Math.max(...lateness(idle, wanted - 1))).toBeGreaterThan(0);
      }),
    );
  });

  it('never falls with more work, less time or more load, and carries the load', () => {
    fc.assert(
      fc.property(demand, work, (of, more) => {
        const wanted = replicasWanted(of);
        const [first] = of.waiting;
        expect(wanted * of.devices * 0.8).toBeGreaterThanOrEqual(of.load - 1e-9);
        expect(replicasWanted({ ...of, running: [...of.running, more] })).toBeGreaterThanOrEqual(
          wanted,
        );
        expect(replicasWanted({ ...of, load: of.load + more })).toBeGreaterThanOrEqual(wanted);
        if (first)
          expect(replicasWanted({ ...of, waiting: [first, ...of.waiting] })).toBeGreaterThanOrEqual(
            wanted,
          );
      }),
    );
  });

  it('is none where nothing is there and nothing comes', () => {
    const nothing = { waiting: [], running: [], load: 0, devices: 4 };
    expect(replicasWanted(nothing)).toBe(0);
    expect(replicasWanted({ ...nothing, running: [5] })).toBe(1);
  });
});
