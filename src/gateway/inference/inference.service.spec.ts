import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ActiveTimeout } from '../../platform/process/active-timeout.js';
import { silenceTimeout } from './inference.service.js';

describe('SilenceWatch', () => {
  let silences: number;
  let excused: boolean;
  let watch: ActiveTimeout;

  beforeEach(() => {
    jest.useFakeTimers();
    [silences, excused] = [0, false];
    watch = silenceTimeout(
      100,
      () => (silences += 1),
      () => excused,
    );
  });
  afterEach(() => {
    watch.stop();
    jest.useRealTimers();
  });

  it('starts with the first output: before it, there is no limit', () => {
    jest.advanceTimersByTime(1000);
    expect(silences).toBe(0);
    watch.restart();
    jest.advanceTimersByTime(101);
    expect(silences).toBe(1);
  });

  it('starts anew with each output, and ends with stop', () => {
    for (let i = 0; i < 5; i++) {
      watch.restart();
      jest.advanceTimersByTime(99);
    }
    watch.stop();
    jest.advanceTimersByTime(1000);
    expect(silences).toBe(0);
  });

  it('starts anew with an output that arrives between the end of the limit and its report', () => {
    watch.restart();
    // The limit is over; what has arrived by then is read before that is reported.
    jest.advanceTimersByTime(100);
    watch.restart();
    jest.advanceTimersByTime(99);
    expect(silences).toBe(0);
    jest.advanceTimersByTime(2);
    expect(silences).toBe(1);
  });

  it('of 100 ms is not over for an event loop that was held for 400 ms', async () => {
    jest.useRealTimers();
    watch.restart();
    for (const endMs = performance.now() + 400; performance.now() < endMs;);
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve));
    expect(silences).toBe(0);
  });

  it('waits on while the silence is excused', () => {
    watch.restart();
    excused = true;
    jest.advanceTimersByTime(450);
    expect(silences).toBe(0);
    excused = false;
    jest.advanceTimersByTime(101);
    expect(silences).toBe(1);
  });
});
