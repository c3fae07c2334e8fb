import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BatchWindow } from '../../src/core/batching/batch-window.js';

const situations = fc.record({
  options: fc.record({
    policy: fc.constantFrom('adaptive' as const, 'window' as const, 'none' as const),
    maxSize: fc.integer({ min: 1, max: 16 }),
    windowMs: fc.nat(100),
    quietGapMs: fc.nat(20),
  }),
  waiting: fc.nat(40),
  firstMs: fc.double({ min: 0, max: 100, noNaN: true }),
  spreadMs: fc.double({ min: 0, max: 60, noNaN: true }),
  sinceMs: fc.double({ min: 0, max: 120, noNaN: true }),
  offer: fc.record({
    free: fc.nat(40),
    idle: fc.boolean(),
    maxBatch: fc.integer({ min: 1, max: 16 }),
  }),
});

type Situation = typeof situations extends fc.Arbitrary<infer T> ? T : never;

function decide({ options, waiting, firstMs, spreadMs, sinceMs, offer }: Situation) {
  const window = new BatchWindow(options);
  const lastMs = waiting > 1 ? firstMs + spreadMs : firstMs;
  const lane = { size: waiting, firstEnqueuedAtMs: firstMs, lastEnqueuedAtMs: lastMs };
  const nowMs = lastMs + sinceMs;
  return { window, lane, nowMs, decision: window.decide(lane, offer, nowMs) };
}

/** Checks what was decided, in any situation. */
const always = (check: (situation: Situation, decided: ReturnType<typeof decide>) => void) =>
  fc.assert(fc.property(situations, situation => check(situation, decide(situation))));

describe('BatchWindow in any situation', () => {
  it('never sends more than wait, than the group size, than the worker takes or than is free, and never nobody', () => {
    always(({ waiting, offer, options }, { decision }) => {
      if (!decision.go) return;
      expect(decision.count).toBeGreaterThan(0);
      expect(decision.count).toBeLessThanOrEqual(
        Math.min(waiting, options.maxSize, offer.maxBatch, offer.free),
      );
    });
  });

  it('goes at the instant it asked to be woken at, if nothing else happens', () => {
    always(({ offer }, { window, lane, nowMs, decision }) => {
      if (decision.go || decision.wakeAtMs === Infinity) return;
      expect(decision.wakeAtMs).toBeGreaterThan(nowMs);
      expect(window.decide(lane, offer, decision.wakeAtMs).go).toBe(true);
    });
  });

  it('never holds anybody back longer than the window after the first enqueue', () => {
    always(({ options }, { lane, nowMs, decision }) => {
      if (decision.go || decision.wakeAtMs === Infinity) return;
      const closesAtMs = lane.firstEnqueuedAtMs + options.windowMs;
      expect(nowMs).toBeLessThan(closesAtMs);
      expect(decision.wakeAtMs).toBeLessThanOrEqual(closesAtMs);
    });
  });

  it('holds nobody back when the device is busy, unless it is the plain timer', () => {
    always(({ waiting, offer, options }, { decision }) => {
      fc.pre(waiting > 0 && offer.free > 0 && !offer.idle && options.policy !== 'window');
      expect(decision.go).toBe(true);
    });
  });
});
