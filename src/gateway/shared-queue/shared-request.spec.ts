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

  it.each([
    ['later by as long as its lost worker had it', {}, 1600],
    [
      'never later than it may begin',
      { latestStartMs: 1200, deadline: { until: 'answer', withinMs: 2000, atMs: 2000 } },
      1200,
    ],
    ['whenever its batch window ends', { latestStartMs: 1200 }, 1600],
  ] as const)('ends it after it was requeued: %s', (_, fields, endMs) => {
    let expired = 0;
    const timed = { ...transcribe(), ...fields, queueDeadlineMs: 1000 };
    const request = new SharedRequest(timed, {} as never, {} as never);
    request.leased(300);
    request.requeued(900);
    request.startQueueDeadline(900, () => (expired += 1));
    jest.advanceTimersByTime(endMs - 901);
    expect(expired).toBe(0);
    jest.advanceTimersByTime(1);
    expect(expired).toBe(1);
  });
});

describe('a shared request whose job was lost', () => {
  it('is queued again ten times, and no more', () => {
    const request = new SharedRequest(transcribe(), {} as never, {} as never);
    const answers = Array.from({ length: 11 }, () => request.mayRequeue());
    expect(answers.indexOf(false)).toBe(10);
  });
});
