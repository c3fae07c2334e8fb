import { beforeEach, describe, expect, it } from '@jest/globals';
import { LatencyTracker } from './latency-tracker.js';
import { aKey } from '../../../test/support/requests.js';

let tracker: LatencyTracker;

beforeEach(() => {
  tracker = new LatencyTracker({ ttlMs: 60_000 });
  tracker.start(aKey('r'), 1_000);
});

/** Leased at 1,100 after 5 ms of window, called at 1,110. */
function walk(): void {
  tracker.dequeued(aKey('r'), 1_100, 5);
  tracker.grpcStarted(aKey('r'), 1_110);
}

describe('LatencyTracker phases', () => {
  it('measures all four phases of a completed request', () => {
    walk();
    expect(tracker.complete(aKey('r'), 1_320)).toEqual({ queueWaitMs: 100, batchWaitMs: 5, grpcMs: 210, totalMs: 320 });
  });

  it('tells a running request what it has reached, and no more', () => {
    expect(tracker.get(aKey('r'), 1_050)).toEqual({});
    tracker.dequeued(aKey('r'), 1_100, 0);
    expect(tracker.get(aKey('r'), 1_150)).toEqual({ queueWaitMs: 100, batchWaitMs: 0 });
    tracker.grpcStarted(aKey('r'), 1_110);
    expect(tracker.get(aKey('r'), 1_150)).toEqual({ queueWaitMs: 100, batchWaitMs: 0 });
  });

  it('gives only the total to a request that was cancelled in the queue', () => {
    expect(tracker.complete(aKey('r'), 1_500)).toEqual({ totalMs: 500 });
  });

  it('ends the gRPC time at settling', () => {
    tracker.dequeued(aKey('r'), 1_100, 0);
    tracker.grpcStarted(aKey('r'), 1_110);
    expect(tracker.complete(aKey('r'), 1_400)).toMatchObject({ grpcMs: 290, totalMs: 400 });
  });

  it('keeps the age across a re-queue and measures the attempt that counted', () => {
    tracker.dequeued(aKey('r'), 1_100, 5);
    tracker.grpcStarted(aKey('r'), 1_110);
    tracker.requeued(aKey('r'));
    expect(tracker.get(aKey('r'), 1_200)).toEqual({});
    tracker.dequeued(aKey('r'), 1_300, 2);
    tracker.grpcStarted(aKey('r'), 1_310);
    expect(tracker.complete(aKey('r'), 1_410)).toEqual({ queueWaitMs: 300, batchWaitMs: 7, grpcMs: 100, totalMs: 410 });
  });

  it('counts from the first start when started twice', () => {
    tracker.start(aKey('r'), 1_900);
    expect(tracker.complete(aKey('r'), 2_000)).toEqual({ totalMs: 1_000 });
  });

  it('ignores stamps of requests it does not know', () => {
    tracker.dequeued(aKey('x'), 1, 1);
    tracker.grpcStarted(aKey('x'), 1);
    tracker.requeued(aKey('x'));
    expect([tracker.get(aKey('x'), 1), tracker.complete(aKey('x'), 1), tracker.size]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });

  it('completes once: the second time there is nothing to report', () => {
    expect(tracker.complete(aKey('r'), 1_500)).toBeDefined();
    expect(tracker.complete(aKey('r'), 1_600)).toBeUndefined();
    expect(tracker.get(aKey('r'), 1_600)).toEqual({ totalMs: 500 });
  });
});

describe('LatencyTracker TTL', () => {
  it('never forgets a request that can still settle, after an hour either', () => {
    expect(tracker.sweep(3_600_000)).toBe(0);
    walk();
    expect(tracker.complete(aKey('r'), 3_600_000)).toMatchObject({ totalMs: 3_599_000 });
  });

  it('keeps a summary 60 s from settling, not from the start', () => {
    tracker.complete(aKey('r'), 100_000);
    expect(tracker.sweep(159_999)).toBe(0);
    expect(tracker.get(aKey('r'), 159_999)).toBeDefined();
    expect(tracker.sweep(160_000)).toBe(1);
    expect([tracker.get(aKey('r'), 160_000), tracker.size]).toEqual([undefined, 0]);
  });

  it('shows nothing past its TTL, also when the sweep is late', () => {
    tracker.complete(aKey('r'), 2_000);
    expect(tracker.get(aKey('r'), 62_000)).toBeUndefined();
  });

  it('sweeps the settled ones in order and leaves younger and running ones', () => {
    ['a', 'b', 'c'].forEach((id, index) => {
      tracker.start(aKey(id), 0);
      tracker.complete(aKey(id), index * 10_000);
    });
    expect(tracker.sweep(70_000)).toBe(2);
    expect([tracker.get(aKey('c'), 70_000), tracker.size]).toEqual([{ totalMs: 20_000 }, 2]);
  });

  it('keeps at most `recent` summaries, dropping the oldest', () => {
    tracker = new LatencyTracker({ ttlMs: 60_000, recent: 2 });
    ['a', 'b', 'c'].forEach(id => {
      tracker.start(aKey(id), 0);
      tracker.complete(aKey(id), 1);
    });
    expect([tracker.size, tracker.get(aKey('a'), 1), tracker.get(aKey('c'), 1)]).toEqual([
      2,
      undefined,
      { totalMs: 1 },
    ]);
  });

  it('names what the worker tells of the wait for its device', () => {
    tracker.start(aKey('q'), 0);
    tracker.dequeued(aKey('q'), 10, 0);
    tracker.grpcStarted(aKey('q'), 10);
    tracker.ready(aKey('q'), 25);
    expect(tracker.complete(aKey('q'), 60)).toEqual({
      queueWaitMs: 10,
      batchWaitMs: 0,
      grpcMs: 50,
      readyMs: 25,
      totalMs: 60,
    });
  });

  it('measures a second request under an id used before', () => {
    tracker.complete(aKey('r'), 1_500);
    tracker.start(aKey('r'), 10_000);
    expect(tracker.get(aKey('r'), 10_001)).toEqual({});
    expect(tracker.complete(aKey('r'), 10_100)).toEqual({ totalMs: 100 });
    expect(tracker.size).toBe(1);
  });
});
