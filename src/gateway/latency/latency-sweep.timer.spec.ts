import { describe, expect, it } from '@jest/globals';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { LatencySweepTimer } from './latency-sweep.timer.js';
import { aKey } from '../../../test/support/requests.js';

describe('LatencySweepTimer', () => {
  const clock = { nowMs: () => 100_000 };
  const settings = settingsFrom({ 'latency.sweep_ms': 10 });

  it('removes what settled more than 60 s ago, and nothing that runs (D-11)', async () => {
    const tracker = new LatencyTracker({ ttlMs: 60_000 });
    tracker.start(aKey('long'), 0);
    tracker.start(aKey('done'), 0);
    tracker.complete(aKey('done'), 1);
    const swept = new Promise<void>(resolve => {
      const sweep = tracker.sweep.bind(tracker);
      tracker.sweep = nowMs => {
        const count = sweep(nowMs);
        resolve();
        return count;
      };
    });
    const timer = new LatencySweepTimer(tracker, clock, settings);
    timer.onApplicationBootstrap();
    await swept;
    timer.stop();
    expect(tracker.size).toBe(1);
    expect(tracker.get(aKey('long'), 100_000)).toBeDefined();
  });

  it('runs from bootstrap until the module is destroyed', () => {
    const timer = new LatencySweepTimer(new LatencyTracker({ ttlMs: 1 }), clock, settings);
    expect(timer.running).toBe(false);
    timer.onApplicationBootstrap();
    expect(timer.running).toBe(true);
    timer.onModuleDestroy();
    expect(timer.running).toBe(false);
  });
});
