import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  request as requestOf,
  synthesize,
  transcribe,
} from '../../../test/support/pool-harness.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type PlacedJob } from './payload-blobs.js';
import { SharedRequest } from './shared-request.js';

const DAY_MS = 86_400_000;

const DEADLINE = { until: 'answer', withinMs: 1200, atMs: 1200 } as const;

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

  it('does not end it once a worker has it, or it was stopped', () => {
    const expired = jest.fn();
    const [taken, stopped] = [0, 1].map(() => {
      const timed = { ...transcribe(), queueDeadlineMs: 10 };
      return new SharedRequest(timed, {} as never, {} as never);
    });
    for (const one of [taken, stopped]) one?.startQueueDeadline(0, expired);
    taken?.leased(0);
    stopped?.stopQueueDeadline();
    jest.advanceTimersByTime(DAY_MS);
    expect(expired).not.toHaveBeenCalled();
  });

  it('that has passed ends it at once', () => {
    const expired = jest.fn();
    const late = new SharedRequest(
      { ...transcribe(), queueDeadlineMs: 1 },
      {} as never,
      {} as never,
    );
    late.startQueueDeadline(9, expired);
    jest.advanceTimersByTime(0);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['later by as long as its lost worker had it', {}, 1600],
    ['never later than it may begin', { latestStartMs: 1200, deadline: DEADLINE }, 1200],
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

describe('a shared request', () => {
  const PLACED = {
    job: { id: 'r', priority: 'batch' },
    costMs: 1,
    blobs: [],
  } as unknown as PlacedJob;
  const reprioritized = jest.fn();
  const shared = (payload = transcribe()) =>
    new SharedRequest(payload, { reprioritized } as never, {} as never);

  it('waits from when it is accepted until a worker has it, and again after that', () => {
    const one = shared();
    const waits = [one.isWaiting];
    one.accepted(PLACED);
    waits.push(one.isWaiting);
    one.leased(1);
    waits.push(one.isWaiting);
    one.requeued(2);
    expect([...waits, one.isWaiting]).toEqual([false, true, false, true]);
  });

  it('is being queued until that succeeds or fails', async () => {
    const one = shared();
    const during: boolean[] = [one.isQueueing];
    const note = (): Promise<void> => {
      during.push(one.isQueueing);
      return Promise.resolve();
    };
    await one.queueing(note);
    during.push(one.isQueueing);
    await one.queueing(() => note().then(() => Promise.reject(new Error('away')))).catch(() => 0);
    expect([...during, one.isQueueing]).toEqual([false, true, false, true, false]);
  });

  it('is read once, and again after that failed', () => {
    const one = shared();
    const firsts = [one.beginReading(), one.beginReading()];
    one.readingFailed();
    expect([...firsts, one.beginReading()]).toEqual([true, false, true]);
  });

  it('gets another priority, before and after its job is placed', () => {
    const one = shared();
    one.reprioritized('realtime');
    expect([one.request.priority, one.placed]).toEqual([RequestPriority.REALTIME, undefined]);
    one.accepted(PLACED);
    one.reprioritized('realtime');
    expect(one.placed?.job).toEqual({ id: 'r', priority: 'realtime' });
    expect(reprioritized).toHaveBeenCalledTimes(2);
    expect(reprioritized).toHaveBeenLastCalledWith(one.request.key, RequestPriority.REALTIME);
  });

  it('of speech passes on what came before its worker was known', () => {
    const { task, headers } = synthesize('text');
    const one = shared(requestOf(task));
    const head = { contentType: 'a', sampleRate: 1 };
    one.relay?.piece({ blob: 'b', offset: 0, bytes: Buffer.from('a'), ...head });
    expect(headers).toEqual([]);
    one.leased(0);
    expect([headers, shared().relay]).toEqual([[head], undefined]);
  });
});
