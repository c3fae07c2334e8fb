import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type MonotonicClock } from '../../core/shared/monotonic-clock.js';
import { ProcessClock } from '../clock/clock.module.js';
import { IdleGc } from './idle-gc.js';

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number; readonly flags: number } };

const { NODE_PERFORMANCE_GC_MINOR: GC_MINOR, NODE_PERFORMANCE_GC_FLAGS_FORCED: GC_FLAGS_FORCED } = constants;
const ENOUGH = 100 * 2 ** 20;
let collector: IdleGc | undefined;

afterEach(() => collector?.onApplicationShutdown());

function counting(usedBytes: number, clock: MonotonicClock = new ProcessClock()) {
  const counted = { looks: 0, collections: 0 };
  const heap = {
    usedBytes: () => {
      counted.looks += 1;
      return usedBytes;
    },
    collect: () => void (counted.collections += 1),
  };
  collector = new IdleGc(clock, heap);
  return { counted, collector };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(1);
}

describe('PauseCollector', () => {
  it('collects once when everything has come to rest', async () => {
    const { counted, collector } = counting(ENOUGH);
    for (let n = 0; n < 100; n++) collector.touched();
    await until(() => counted.collections > 0);
    await pause(20);
    expect(counted).toEqual({ looks: 1, collections: 1 });
  });

  it('waits for as long as something happens', async () => {
    let nowMs = 1000;
    const { counted, collector } = counting(ENOUGH, { nowMs: () => nowMs });
    collector.touched();
    // Timers fire, and each finds that the last event was a moment ago.
    await pause(20);
    expect(counted.looks).toBe(0);
    nowMs += 2;
    await until(() => counted.collections === 1);
  });

  it('lets little garbage lie', async () => {
    const { counted, collector } = counting(1024);
    collector.touched();
    await until(() => counted.looks === 1);
    expect(counted.collections).toBe(0);
  });

  it('makes V8 collect its young objects', async () => {
    // V8's own collections are not forced.
    let minor = 0;
    const observer = new PerformanceObserver(list => {
      const details = (list.getEntries() as GcEntry[]).map(({ detail }) => detail);
      minor += details.filter(({ kind, flags }) => kind === GC_MINOR && (flags & GC_FLAGS_FORCED) !== 0).length;
    });
    observer.observe({ entryTypes: ['gc'] });
    collector = new IdleGc(new ProcessClock());
    // Allocates more than is worth a collection and less than V8 would collect by itself, again until it was seen.
    while (minor === 0) {
      const garbage = Array.from({ length: 120_000 }, (_, n) => ({ n, also: [n] }));
      expect(garbage.length).toBe(120_000);
      collector.touched();
      await pause(10);
    }
    observer.disconnect();
  });
});
