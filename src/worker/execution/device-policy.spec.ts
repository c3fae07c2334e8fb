import { describe, expect, it } from '@jest/globals';
import { DevicePolicy } from './device-policy.js';

type DeviceView = Parameters<DevicePolicy['waitsUntilMs']>[0];

const group = { id: 'g', size: 3 };
const pair = { id: 'pair', size: 2 };
const other = { id: 'other', size: 1 };

const view = (change: Partial<DeviceView> = {}): DeviceView => ({
  ready: 1,
  maxBatch: 8,
  running: 0,
  group,
  realtime: false,
  ...change,
});

/** One member of `group` is READY and two have not arrived. */
function waiting(policy = new DevicePolicy()): DevicePolicy {
  policy.arrived(group, 0);
  policy.prepared(group, true, 0);
  return policy;
}

/** A whole group took so long to be READY. */
function gathered(policy: DevicePolicy, elapsedMs: number): DevicePolicy {
  for (const _ of [1, 2]) policy.arrived(pair, 0);
  policy.prepared(pair, true, 0);
  policy.prepared(pair, true, elapsedMs);
  for (const _ of [1, 2]) policy.departed(pair);
  return policy;
}

/** An engine call took so long, and left nothing. */
function computed(policy: DevicePolicy, deviceMs: number): DevicePolicy {
  policy.ended(deviceMs);
  policy.over();
  return policy;
}

/** Milliseconds that the device waits from 1000 ms on. */
function waits(policy: DevicePolicy, change: Partial<DeviceView> = {}) {
  return (policy.waitsUntilMs(view(change), 1000) ?? 1000) - 1000;
}

describe('DevicePolicy (D-24)', () => {
  it.each([
    ['a busy device never waits', { running: 1 }],
    ['nobody is missing', { group: other }],
    ['the group is full', { ready: 8 }],
  ])('goes at once: %s', (_reason, change) => {
    expect(waiting().waitsUntilMs(view(change), 1000)).toBeUndefined();
  });

  it('counts its limit from the first decision, not from the latest', () => {
    const policy = waiting();
    const decisions = [1000, 1100, 1249, 1250].map(nowMs => policy.waitsUntilMs(view(), nowMs));
    expect(decisions).toEqual([1250, 1250, 1250, undefined]);
  });

  it('waits for a group again in the next turn', () => {
    const policy = waiting();
    expect(policy.waitsUntilMs(view(), 1000)).toBe(1250);
    expect(policy.waitsUntilMs(view(), 1250)).toBeUndefined();
    policy.over();
    expect(policy.waitsUntilMs(view(), 1300)).toBe(1550);
  });

  it('goes by what the engine expects until it has seen an engine call', () => {
    const policy = waiting();
    expect(waits(policy, { callMs: 2000 })).toBe(1000);
    computed(policy, 400);
    expect(waits(policy, { callMs: 2000 })).toBeLessThan(1000);
  });

  it('waits for a group at most half of the usual time of a device that is slow', () => {
    const policy = gathered(computed(waiting(), 3000), 700);
    expect(waits(policy)).toBe(1400);
    gathered(policy, 60_000);
    policy.over();
    expect(waits(policy)).toBe(1500);
  });

  it.each([
    // device  preparing  head      busy   waits
    [3000, 2, 'batch', false, 750],
    [3000, 2, 'batch', true, 750],
    [3000, 0, 'batch', false, 0],
    [3000, 2, 'realtime', false, 0],
    [100, 2, 'batch', false, 0],
  ])(
    'device %d ms, %d in preparation, %s, busy %s: waits %d ms',
    (deviceMs, preparing, head, busy, waitMs) => {
      const policy = computed(new DevicePolicy(), deviceMs);
      for (let left = preparing; left > 0; left -= 1) policy.arrived(other, 0);
      const device = { group: other, realtime: head === 'realtime', running: busy ? 1 : 0 };
      expect(waits(policy, device)).toBe(waitMs);
    },
  );

  it('limits the wait to twice the usual time of a group, within 50 and 250 ms', () => {
    expect(
      [0.1, 30, 60, 4000].map(elapsedMs => waits(waiting(gathered(new DevicePolicy(), elapsedMs)))),
    ).toEqual([50, 60, 120, 250]);
  });

  it('follows a change within 20 groups', () => {
    const policy = gathered(new DevicePolicy(), 10);
    for (let count = 0; count < 20; count += 1) gathered(policy, 50);
    expect(waits(waiting(policy))).toBeGreaterThan(95);
  });

  it('forgets a group with its last member, also when others never came', () => {
    const policy = waiting();
    policy.departed(group);
    expect([waits(policy), policy.groups]).toEqual([0, 0]);
  });

  it('takes more members than announced without counting below zero', () => {
    const policy = new DevicePolicy();
    for (let member = 0; member < 5; member += 1) policy.arrived(pair, 0);
    for (let member = 0; member < 5; member += 1) policy.prepared(pair, true, 0);
    expect(waits(policy, { group: pair })).toBe(0);
  });
});
