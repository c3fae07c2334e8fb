import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import {
  DeviceModel,
  type DeviceModelOptions,
  type DeviceModelReport,
} from '../support/device-model.js';

/** 8 per group of 20 ms: what the device could do at most. */
const IDEAL_PER_SECOND = 400;
const DEVICE_MS = 20;

const run = (options: DeviceModelOptions): DeviceModelReport => new DeviceModel(options).run();

/**
 * Virtual time: these are properties of the policy, not of the machine that
 * runs the test.
 */
describe('Batch policy on a model device, callers that wait for their answer', () => {
  it.each([16, 64, 512])(
    'keeps the device at 0.97 of the ideal or better with %d callers',
    callers => {
      const { perSecond, meanGroup } = run({ arrivals: { callers } });
      expect(perSecond / IDEAL_PER_SECOND).toBeGreaterThanOrEqual(0.97);
      expect(meanGroup).toBeGreaterThan(7.9);
    },
  );

  it.each([16, 64])('does so with %d callers also when a group takes 12 ms to prepare', callers => {
    const { perSecond } = run({ arrivals: { callers }, prepMs: 12 });
    expect(perSecond / IDEAL_PER_SECOND).toBeGreaterThanOrEqual(0.97);
  });

  it('gathers 8 callers that come back within the quiet gap into groups of 8', () => {
    const { perSecond, meanGroup } = run({ arrivals: { callers: 8 }, forMs: 5_000 });
    expect(meanGroup).toBe(8);
    expect(perSecond / IDEAL_PER_SECOND).toBeGreaterThanOrEqual(0.83);
  });

  it('makes groups twice as large as no window does, with 4 callers', () => {
    const [adaptive, none] = (['adaptive', 'none'] as const).map(policy =>
      run({ arrivals: { callers: 4 }, window: { policy } }),
    );
    expect(adaptive?.meanGroup).toBeCloseTo(4, 1);
    expect(none?.meanGroup).toBeCloseTo(2, 1);
  });

  it('costs a lone caller the quiet gap of 5 ms and no more', () => {
    const alone = (policy: 'adaptive' | 'none') =>
      run({ arrivals: { callers: 1 }, window: { policy } }).p50Ms;
    expect(alone('adaptive') - alone('none')).toBeCloseTo(5, 5);
  });
});

describe('REALTIME callers on a model device, that wait for their answer', () => {
  const realtime = (callers: number): DeviceModelReport =>
    run({ arrivals: { callers }, priority: RequestPriority.REALTIME });

  it('take turns in groups of 1 and 7 at half of the ideal: the device never waits for their return', () => {
    const perSecond = realtime(8).perSecond / IDEAL_PER_SECOND;
    expect(perSecond).toBeGreaterThan(0.45);
    expect(perSecond).toBeLessThan(0.51);
  });
});

describe('Callers on a model device that begin in two halves: one group, or two that take turns', () => {
  const HALVES = { callers: 8, start: 'halves' } as const;
  const MINUTE = { forMs: 60_000, deviceJitter: 0.2 };

  it('takes turns for ever at 0.5 of the ideal: the device never waits for returns', () => {
    const { perSecond, meanGroup } = run({ arrivals: HALVES, ...MINUTE });
    expect(perSecond / IDEAL_PER_SECOND).toBeGreaterThan(0.47);
    expect(perSecond / IDEAL_PER_SECOND).toBeLessThan(0.51);
    expect(meanGroup).toBeCloseTo(4, 1);
  });

  // A round trip of 2.6 ms for the callers that fill the group: 20 / 22.6 is the most
  // that 12 callers can reach.
  it.each([
    [12, 0.74],
    [15, 0.93],
    [16, 0.97],
    [64, 0.97],
    [512, 0.97],
  ])('keeps %d callers that begin in halves at %d of the ideal or better', (callers, least) => {
    const { perSecond } = run({ arrivals: { callers, start: 'halves' } });
    expect(perSecond / IDEAL_PER_SECOND).toBeGreaterThanOrEqual(least);
  });
});

describe('Batch policy on a model device, independent callers at random', () => {
  it('answers half of them within 1.6 device times and 99 % within 2.3, at half load', () => {
    const { p50Ms, p99Ms } = run({ arrivals: { perMs: 0.2 } });
    expect(p50Ms / DEVICE_MS).toBeLessThanOrEqual(1.6);
    expect(p99Ms / DEVICE_MS).toBeLessThanOrEqual(2.3);
  });

  it('beats the plain 50 ms timer at half load: p50 by 5 ms, p99 by 20 ms', () => {
    const adaptive = run({ arrivals: { perMs: 0.2 } });
    const timer = run({ arrivals: { perMs: 0.2 }, window: { policy: 'window' } });
    expect(timer.p50Ms - adaptive.p50Ms).toBeGreaterThan(5);
    expect(timer.p99Ms - adaptive.p99Ms).toBeGreaterThan(20);
  });

  it('serves 0.9 of the ideal without falling behind', () => {
    const { perSecond, p99Ms } = run({ arrivals: { perMs: 0.36 }, forMs: 100_000 });
    expect(perSecond).toBeGreaterThan(350);
    expect(p99Ms).toBeLessThan(150);
  });
});
