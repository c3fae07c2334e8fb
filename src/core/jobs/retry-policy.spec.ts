import { describe, expect, it } from '@jest/globals';
import { causeOf, retryAfter } from './retry-policy.js';

type AttemptFailure = Parameters<typeof causeOf>[0];
type FailureCause = ReturnType<typeof causeOf>;

const LIMITS = { attempts: 4, initialMs: 1000, maxMs: 60_000 };
const CLOCK = { nowMs: 0, deadlineMs: 3_600_000, random: () => 0 };
const status = (code: number, more = {}): AttemptFailure => ({
  kind: 'answer',
  status: code,
  ...more,
});
const decide = (
  cause: FailureCause,
  failed = 1,
  busy = 0,
  { askedMs = 0, clock = CLOCK, limits = LIMITS } = {},
) => retryAfter({ cause, askedMs }, { failed, busy }, limits, clock);

describe('causeOf', () => {
  it.each<[FailureCause, AttemptFailure[]]>([
    ['line', [409, 425, 500, 504].map(code => status(code))],
    ['line', [status(504, { code: 'inference_timeout', shouldRetry: false })]],
    ['line', ['worker_lost', 'gateway_lost'].map(code => status(503, { code }))],
    ['busy', [status(429), status(503, { code: 'queue_timeout' })]],
    ['away', [status(502), status(503), status(503, { code: 'storage_unavailable' })]],
    ['away', (['refused', 'lost'] as const).map(cause => ({ kind: 'transport', cause }))],
    ['final', [400, 401, 404, 408, 413, 422, 499, 501].map(code => status(code))],
    ['final', [{ kind: 'transport', cause: 'timeout' }]],
  ])('is %s', (cause, failures) => {
    expect(failures.map(causeOf)).toEqual(failures.map(() => cause));
  });

  it('obeys x-should-retry in both directions', () => {
    expect(causeOf(status(503, { shouldRetry: false }))).toBe('final');
    expect(causeOf(status(400, { shouldRetry: true }))).toBe('line');
  });
});

describe('retryAfter', () => {
  it('never tries again what is final', () => expect(decide('final')).toBeUndefined());

  it('doubles from 1 s to 60 s, with jitter down to half', () => {
    const waits = [1, 2, 3].map(failed => decide('line', failed));
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(decide('busy', 0, 20)).toBe(60_000);
    expect(decide('line', 1, 0, { clock: { ...CLOCK, random: () => 1 } })).toBe(500);
  });

  it('never comes before the target asked for', () => {
    expect(decide('busy', 1, 0, { askedMs: 90_000 })).toBe(90_000);
    expect(decide('line', 3, 0, { askedMs: 10 })).toBe(4000);
  });

  it('ends after 4 failures; meetings with a busy target are counted apart, without limit', () => {
    expect(decide('line', 4)).toBeUndefined();
    expect(decide('busy', 3, 5000)).toBeDefined();
  });

  it('leaves a line whose target is away to the gate, as often as it takes', () => {
    expect(decide('away', 3, 1000)).toBe(0);
  });

  it('ends when the deadline of the job comes before the next attempt', () => {
    expect(decide('line', 1, 0, { clock: { ...CLOCK, deadlineMs: 1000 } })).toBeUndefined();
    expect(decide('line', 1, 0, { clock: { ...CLOCK, deadlineMs: 1001 } })).toBeDefined();
  });
});
