import { describe, expect, it } from '@jest/globals';
import { GroupWait, type LaneView } from './group-wait.js';

const lane = (change: Partial<LaneView>): LaneView => ({
  ready: 1,
  maxBatch: 8,
  idle: true,
  missing: 3,
  waitingSinceMs: undefined,
  ...change,
});

describe('GroupWait (D-24)', () => {
  it('lets an idle device wait for the missing members of the group', () => {
    expect(new GroupWait().decide(lane({}), 1000)).toEqual({ go: false, wakeAtMs: 1250 });
  });

  it.each([
    ['a busy device never waits', { idle: false }],
    ['nobody is missing', { missing: 0 }],
    ['the group is full', { ready: 8 }],
  ])('goes at once: %s', (_reason, change) => {
    expect(new GroupWait().decide(lane(change), 1000)).toEqual({ go: true });
  });

  it('counts its limit from the first decision, not from the latest', () => {
    const wait = new GroupWait({ ceilingMs: 100 });
    expect(wait.decide(lane({ waitingSinceMs: 1000 }), 1099)).toEqual({ go: false, wakeAtMs: 1100 });
    expect(wait.decide(lane({ waitingSinceMs: 1000 }), 1100)).toEqual({ go: true });
  });

  it('limits the wait to 250 ms before it has seen a preparation', () => {
    expect(new GroupWait().limitMs).toBe(250);
  });

  it('limits the wait to twice the usual preparation, within 10 and 250 ms', () => {
    const limitAfter = (elapsedMs: number): number => {
      const wait = new GroupWait();
      wait.prepared(elapsedMs);
      return wait.limitMs;
    };
    expect([0.1, 20, 60, 4000].map(limitAfter)).toEqual([10, 40, 120, 250]);
  });

  it('follows a change of preparation times within a few items', () => {
    const wait = new GroupWait();
    wait.prepared(10);
    for (let item = 0; item < 20; item += 1) wait.prepared(50);
    expect(wait.limitMs).toBeGreaterThan(95);
  });
});
