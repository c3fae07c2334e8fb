import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Playback } from '../../src/core/order/playback.js';
import { nextSentence } from '../../src/core/order/sentence-order.js';
import { speechLoad } from '../bench/support/simulation/speech-load.js';

const answers = fc.array(
  fc.record({
    isHeard: fc.boolean(),
    madeMs: fc.option(fc.integer({ min: 300, max: 5000 }), { nil: undefined }),
    deviceMs: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
);

const waitingOf = (drawn: typeof answers extends fc.Arbitrary<infer A> ? A : never) =>
  drawn.flatMap(({ isHeard, madeMs, deviceMs }, index) => {
    const playback = isHeard ? new Playback() : undefined;
    if (madeMs !== undefined) playback?.made(madeMs, 0);
    return deviceMs.map((ms, at) => ({ index, at, playback, deviceMs: ms, audioMs: 1000 }));
  });

describe('The order of sentences', () => {
  it('always takes one when any waits, each answer in its order, each sentence once', () => {
    fc.assert(
      fc.property(answers, drawn => {
        const waiting = new Set(waitingOf(drawn));
        const taken = new Map<number, number>();
        for (let nowMs = 0; waiting.size > 0; nowMs += 500) {
          const next = nextSentence(waiting, nowMs)!;
          expect(waiting.delete(next)).toBe(true);
          expect(next.at).toBe(taken.get(next.index) ?? 0);
          taken.set(next.index, next.at + 1);
          next.playback?.made(next.audioMs, nowMs);
        }
      }),
    );
  });

  it('never makes another answer pause by a first sentence that took what was expected', () => {
    fc.assert(
      fc.property(answers, drawn => {
        const waiting = new Set(waitingOf(drawn));
        const begun = new Set(
          [...waiting].filter(({ playback }) => playback?.playedAtMs !== undefined),
        );
        let nowMs = 0;
        const first = nextSentence(waiting, nowMs)!;
        fc.pre(begun.size > 0 && first.playback !== undefined && !begun.has(first));
        for (let next = first; next; next = nextSentence(waiting, nowMs)!) {
          waiting.delete(next);
          nowMs += next.deviceMs;
          next.playback?.made(next.audioMs, nowMs);
          if (begun.has(next)) expect(next.playback!.lateMs).toBe(0);
        }
      }),
    );
  });

  it('at load 0.8 has the first audio out 10 times sooner than whole answers do, and nobody hears a pause', () => {
    const [inOrder, inTurns, first] = (
      ['first in, first out', 'in turns', 'first audio first'] as const
    ).map(order => speechLoad(order, { seconds: 1800 }));
    expect(first!.firstMs.p95).toBeLessThan(inOrder!.firstMs.p95 / 10);
    expect(first!.firstMs.p95).toBeLessThan(inTurns!.firstMs.p95 / 2);
    expect(first!.stutter).toBeLessThanOrEqual(0.009);
    expect(inTurns!.stutter).toBeGreaterThan(0.03);
    expect(first!.busy).toBeCloseTo(inOrder!.busy, 6);
  });

  it('under more than the device can do lets the new ones wait, and those who listen hear no pause', () => {
    const { stutter, firstMs } = speechLoad('first audio first', { load: 1.1, seconds: 300 });
    expect(stutter).toBeLessThanOrEqual(0.01);
    expect(firstMs.p95).toBeGreaterThan(2000);
  });
});
