import { describe, expect, it } from '@jest/globals';
import { GroupWait, type LaneView } from './return-wait.js';

const lane = (change: Partial<LaneView>): LaneView => ({
  ready: 1,
  maxBatch: 8,
  idle: true,
  missing: 3,
  preparing: 0,
  freed: false,
  realtime: false,
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

  it('goes by what the engine expects until it has seen an engine call', () => {
    const wait = new GroupWait();
    wait.expect(2000);
    expect([wait.limitMs, wait.othersMs]).toEqual([1000, 500]);
    wait.computed(400);
    wait.expect(2000);
    expect(wait.othersMs).toBeLessThan(500);
  });

  it('waits for a group at most half of the usual time of a device that is slow', () => {
    const wait = new GroupWait();
    wait.computed(3000);
    wait.gathered(700);
    expect(wait.limitMs).toBe(1400);
    wait.gathered(60_000);
    expect(wait.limitMs).toBe(1500);
  });

  it.each([
    // device  preparing  head      busy   held until
    [3000, 2, 'batch', false, 1750],
    [3000, 2, 'batch', true, 1750],
    [3000, 0, 'batch', false, undefined],
    [3000, 2, 'realtime', false, undefined],
    [100, 2, 'batch', false, undefined],
  ])('device %d ms, %d in preparation, %s, busy %s: held until %d', (deviceMs, preparing, head, busy, untilMs) => {
    const wait = new GroupWait();
    wait.computed(deviceMs);
    const view = lane({ missing: 0, preparing, realtime: head === 'realtime', idle: !busy });
    expect(wait.decide(view, 1000)).toEqual(untilMs ? { go: false, wakeAtMs: untilMs } : { go: true });
  });

  it('never waits when an engine call has just left READY items', () => {
    const wait = new GroupWait();
    wait.computed(3000);
    expect(wait.decide(lane({ preparing: 2, freed: true, idle: false }), 1000)).toEqual({ go: true });
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
