import { describe, expect, it } from '@jest/globals';
import { BatchWindow } from './batch-window.js';

type BatchPolicy = ConstructorParameters<typeof BatchWindow>[0]['policy'];
type WindowDecision = ReturnType<BatchWindow['decide']>;

/** The defaults of D-02: 8 per group, 50 ms, quiet gap 5 ms. */
const aWindow = (policy: BatchPolicy): BatchWindow =>
  new BatchWindow({ policy, maxSize: 8, windowMs: 50, quietGapMs: 5 });

const IDLE = { free: 16, idle: true, maxBatch: 8 };
const BUSY = { free: 8, idle: false, maxBatch: 8 };

/** So many wait; the first was enqueued at 0 ms and the last at `lastMs`. */
const waiting = (count: number, lastMs = 0) => ({
  size: count,
  firstEnqueuedAtMs: 0,
  lastEnqueuedAtMs: lastMs,
});

const go = (count: number, reason: string) => ({ go: true, count, reason }) as WindowDecision;
const wait = (wakeAtMs: number): WindowDecision => ({ go: false, wakeAtMs });

describe('BatchWindow', () => {
  it.each<[string, ReturnType<typeof waiting>, typeof IDLE, number, WindowDecision]>([
    ['goes at 8 without waiting', waiting(8), IDLE, 0, go(8, 'full')],
    ['goes with 8 of 12, leaving 4 for the next group', waiting(12), IDLE, 0, go(8, 'full')],
    ['waits with 7 until the quiet gap after the last', waiting(7, 3), IDLE, 3, wait(8)],
    ['still waits a tick of 1 ms before that', waiting(7, 3), IDLE, 7, wait(8)],
    ['goes less than a tick before that', waiting(7, 3), IDLE, 7.1, go(7, 'quiet')],
    ['sends a lone request after 5 ms', waiting(1), IDLE, 5, go(1, 'quiet')],
    ['waits while others arrive steadily', waiting(6, 48), IDLE, 49, wait(50)],
    ['goes then less than a tick before 50 ms', waiting(6, 48), IDLE, 49.1, go(6, 'window')],
    ['goes 50 ms after the first', waiting(6, 48), IDLE, 50, go(6, 'window')],
    ['wakes for the gap when it comes first', waiting(2, 10), IDLE, 10, wait(15)],
    ['wakes for the window when it comes first', waiting(2, 47), IDLE, 47, wait(50)],
    ['is full at what the worker takes', waiting(3), { ...IDLE, maxBatch: 2 }, 0, go(2, 'full')],
    ['counts the free credits at most', waiting(8), { ...IDLE, free: 3 }, 0, go(3, 'full')],
    ['goes quiet below the free credits', waiting(2), { ...IDLE, free: 3 }, 5, go(2, 'quiet')],
    ['lets a re-queued request of 60 ms age go at once', waiting(1), IDLE, 60, go(1, 'window')],
    ['sends ahead to a busy device at once', waiting(1), BUSY, 0, go(1, 'ahead')],
    ['sends ahead all that wait', waiting(5, 4), BUSY, 4, go(5, 'ahead')],
    ['sends ahead at most a group', waiting(20), { ...BUSY, free: 15 }, 0, go(8, 'ahead')],
    ['sends ahead at most the credits', waiting(20), { ...BUSY, free: 2 }, 0, go(2, 'ahead')],
  ])('%s', (_, lane, offer, nowMs, decision) => {
    expect(aWindow('adaptive').decide(lane, offer, nowMs)).toEqual(decision);
  });
});

describe('BatchWindow policies', () => {
  it('window: waits 50 ms also with a busy device, and knows no quiet gap', () => {
    const window = aWindow('window');
    expect(window.decide(waiting(7, 3), BUSY, 20)).toEqual(wait(50));
    expect(window.decide(waiting(7, 3), IDLE, 20)).toEqual(wait(50));
    expect(window.decide(waiting(7, 3), BUSY, 50)).toEqual(go(7, 'window'));
  });

  it('window: goes at 8 without waiting', () => {
    expect(aWindow('window').decide(waiting(9), IDLE, 0)).toEqual(go(8, 'full'));
  });

  it('none: sends at once what waits, idle or busy', () => {
    const window = aWindow('none');
    expect(window.decide(waiting(1), IDLE, 0)).toEqual(go(1, 'window'));
    expect(window.decide(waiting(3), BUSY, 0)).toEqual(go(3, 'ahead'));
    expect(window.decide(waiting(9), IDLE, 0)).toEqual(go(8, 'full'));
  });

  it.each<BatchPolicy>(['adaptive', 'window', 'none'])(
    '%s: flush sends at once what waits',
    policy => {
      expect(aWindow(policy).flush(waiting(3), IDLE)).toEqual(go(3, 'window'));
      expect(aWindow(policy).flush(waiting(30), { ...BUSY, free: 4 })).toEqual(go(4, 'full'));
    },
  );

  it.each<BatchPolicy>(['adaptive', 'window', 'none'])(
    '%s: without requests or credits nothing goes, ever',
    policy => {
      expect(aWindow(policy).decide(waiting(0), IDLE, 99)).toEqual(wait(Infinity));
      expect(aWindow(policy).decide(waiting(9), { ...IDLE, free: 0 }, 99)).toEqual(wait(Infinity));
      expect(aWindow(policy).flush(waiting(9), { ...BUSY, free: 0 })).toEqual(wait(Infinity));
    },
  );
});
