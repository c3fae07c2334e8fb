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

describe('BatchWindow, idle device', () => {
  const window = aWindow('adaptive');

  it('goes at 8 without waiting', () => {
    expect(window.decide(waiting(8), IDLE, 0)).toEqual(go(8, 'full'));
  });

  it('goes with 8 of 12, leaving 4 for the next group', () => {
    expect(window.decide(waiting(12), IDLE, 0)).toEqual(go(8, 'full'));
  });

  it('waits with 7 until the quiet gap after the last, less than a tick of 1 ms early', () => {
    expect(window.decide(waiting(7, 3), IDLE, 3)).toEqual(wait(8));
    expect(window.decide(waiting(7, 3), IDLE, 7)).toEqual(wait(8));
    expect(window.decide(waiting(7, 3), IDLE, 7.1)).toEqual(go(7, 'quiet'));
    expect(window.decide(waiting(7, 3), IDLE, 8)).toEqual(go(7, 'quiet'));
  });

  it('sends a lone request after 5 ms', () => {
    expect(window.decide(waiting(1), IDLE, 5)).toEqual(go(1, 'quiet'));
  });

  it('goes 50 ms after the first, however steadily others arrive', () => {
    expect(window.decide(waiting(6, 48), IDLE, 49)).toEqual(wait(50));
    expect(window.decide(waiting(6, 48), IDLE, 49.1)).toEqual(go(6, 'window'));
    expect(window.decide(waiting(6, 48), IDLE, 50)).toEqual(go(6, 'window'));
  });

  it('wakes at whichever comes first, gap or window', () => {
    expect(window.decide(waiting(2, 10), IDLE, 10)).toEqual(wait(15));
    expect(window.decide(waiting(2, 47), IDLE, 47)).toEqual(wait(50));
  });

  it('is full at what the worker takes, when that is fewer than 8', () => {
    expect(window.decide(waiting(3), { ...IDLE, maxBatch: 2 }, 0)).toEqual(go(2, 'full'));
  });

  it('never counts more than the free credits, and does not wait for more than fit', () => {
    expect(window.decide(waiting(8), { ...IDLE, free: 3 }, 0)).toEqual(go(3, 'full'));
    expect(window.decide(waiting(2), { ...IDLE, free: 3 }, 5)).toEqual(go(2, 'quiet'));
  });

  it('lets a re-queued request of 60 ms age go at once', () => {
    expect(window.decide(waiting(1), IDLE, 60)).toEqual(go(1, 'window'));
  });
});

describe('BatchWindow, busy device', () => {
  const window = aWindow('adaptive');

  it('sends ahead at once whatever waits', () => {
    expect(window.decide(waiting(1), BUSY, 0)).toEqual(go(1, 'ahead'));
    expect(window.decide(waiting(5, 4), BUSY, 4)).toEqual(go(5, 'ahead'));
  });

  it('sends ahead at most a group', () => {
    expect(window.decide(waiting(20), { ...BUSY, free: 15 }, 0)).toEqual(go(8, 'ahead'));
  });

  it('sends ahead at most the free credits', () => {
    expect(window.decide(waiting(20), { ...BUSY, free: 2 }, 0)).toEqual(go(2, 'ahead'));
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
