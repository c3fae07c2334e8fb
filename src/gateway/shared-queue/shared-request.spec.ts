import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { transcribe } from '../../../test/support/pool-harness.js';
import { SharedRequest } from './shared-request.js';

const DAY_MS = 86_400_000;

describe('the queue deadline of a shared request', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @returns how often it expired */
  function started(queueDeadlineMs: number): () => number {
    let expired = 0;
    const request = { ...transcribe(), queueDeadlineMs };
    new SharedRequest(request, {} as never, {} as never).startQueueDeadline(
      0,
      () => (expired += 1),
    );
    return () => expired;
  }

  it('ends it then, and at once when it has passed', () => {
    const [later, passed] = [started(1000), started(-5)];
    jest.advanceTimersByTime(999);
    expect([later(), passed()]).toEqual([0, 1]);
    jest.advanceTimersByTime(1);
    expect(later()).toBe(1);
  });

  it('further away than a timer of Node lasts does not end it at once', () => {
    const ends = [30 * DAY_MS, Infinity].map(started);
    jest.advanceTimersByTime(DAY_MS);
    expect(ends.map(expired => expired())).toEqual([0, 0]);
  });
});
