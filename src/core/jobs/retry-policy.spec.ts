import { describe, expect, it } from '@jest/globals';
import { type AttemptFailure, isBusy, retryAfter } from './retry-policy.js';

const LIMITS = { attempts: 4, busyAttempts: 50, initialMs: 1000, maxMs: 60_000 };
const CLOCK = { nowMs: 0, deadlineMs: 3_600_000, random: 1 };
const status = (code: number, more = {}): AttemptFailure => ({ kind: 'status', status: code, ...more });
const decide = (failure: AttemptFailure, failed = 1, busy = 0, clock = CLOCK) =>
  retryAfter(failure, { failed, busy }, LIMITS, clock);

describe('retryAfter', () => {
  it.each([409, 425, 429, 500, 502, 503])('tries again after %d', code =>
    expect(decide(status(code)).retry).toBe(true),
  );

  it.each([400, 401, 404, 408, 413, 422, 499, 501, 504])(
    'never after %d: the answer stands, or the work may still run',
    code => expect(decide(status(code)).retry).toBe(false),
  );

  it('tries again when nothing was sent or the connection broke, never after a time-out', () => {
    expect(decide({ kind: 'transport', cause: 'refused' }).retry).toBe(true);
    expect(decide({ kind: 'transport', cause: 'lost' }).retry).toBe(true);
    expect(decide({ kind: 'transport', cause: 'timeout' }).retry).toBe(false);
  });

  it('obeys x-should-retry in both directions', () => {
    expect(decide(status(503, { shouldRetry: false })).retry).toBe(false);
    expect(decide(status(400, { shouldRetry: true })).retry).toBe(true);
  });

  it('doubles from 1 s to 60 s, with jitter down to half', () => {
    const waits = [1, 2, 3].map(failed => decide(status(500), failed));
    expect(waits).toEqual([1000, 2000, 4000].map(afterMs => ({ retry: true, afterMs })));
    expect(decide(status(429), 0, 20)).toEqual({ retry: true, afterMs: 60_000 });
    expect(decide(status(500), 1, 0, { ...CLOCK, random: 0 })).toEqual({ retry: true, afterMs: 500 });
  });

  it('never comes before the target asked for', () => {
    expect(decide(status(429, { retryAfterMs: 90_000 }))).toEqual({ retry: true, afterMs: 90_000 });
    expect(decide(status(500, { retryAfterMs: 10 }), 3)).toEqual({ retry: true, afterMs: 4000 });
  });

  it('ends after 4 failures, counting meetings with a busy target apart', () => {
    expect(decide(status(500), 4).retry).toBe(false);
    expect(decide(status(429), 3, 49).retry).toBe(true);
    expect(decide(status(429), 0, 50).retry).toBe(false);
  });

  it('ends when the deadline of the job comes before the next attempt', () => {
    expect(decide(status(500), 1, 0, { ...CLOCK, deadlineMs: 1000 }).retry).toBe(false);
    expect(decide(status(500), 1, 0, { ...CLOCK, deadlineMs: 1001 }).retry).toBe(true);
  });

  it('calls 429 and 503 busy', () => {
    expect([429, 503, 500, 502].map(code => isBusy(status(code)))).toEqual([true, true, false, false]);
    expect(isBusy({ kind: 'transport', cause: 'lost' })).toBe(false);
  });
});
