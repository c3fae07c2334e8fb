import { describe, expect, it } from '@jest/globals';
import { GroupWait, type LaneView } from './return-wait.js';

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

  it('limits the wait to 250 ms before it has seen a group', () => {
    expect(new GroupWait().limitMs).toBe(250);
  });

  it('limits the wait to twice the usual time of a group, within 50 and 250 ms', () => {
    const limitAfter = (elapsedMs: number): number => {
      const wait = new GroupWait();
      wait.gathered(elapsedMs);
      return wait.limitMs;
    };
    expect([0.1, 30, 60, 4000].map(limitAfter)).toEqual([50, 60, 120, 250]);
  });

  it('follows a change within 20 groups', () => {
    const wait = new GroupWait();
    wait.gathered(10);
    for (let group = 0; group < 20; group += 1) wait.gathered(50);
    expect(wait.limitMs).toBeGreaterThan(95);
  });
});
