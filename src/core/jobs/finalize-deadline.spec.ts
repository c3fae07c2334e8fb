import { describe, expect, it } from '@jest/globals';
import { batchJob } from '../../../test/contract/stores/batch-fixtures.js';
import { finalizeDeadlineMs } from './finalize-deadline.js';

const LIMITS = { finalizeTimeoutMs: 1000, graceMs: 10 };

describe('finalizeDeadlineMs', () => {
  it('is bounded once the last line is done, sooner when a cancel comes then', () => {
    const job = batchJob({ status: 'finalizing', reachedAtMs: { in_progress: 1, finalizing: 5 } });
    expect(finalizeDeadlineMs(job, LIMITS)).toBe(1005);
    const cancelled = {
      ...job,
      status: 'cancelling' as const,
      reachedAtMs: { ...job.reachedAtMs, cancelling: 100 },
    };
    expect(finalizeDeadlineMs(cancelled, LIMITS)).toBe(110);
    expect(finalizeDeadlineMs({ ...cancelled, reachedAtMs: { cancelling: 100 } }, LIMITS)).toBe(
      1100,
    );
  });

  it('counts from the deadline while lines run', () => {
    const job = batchJob({
      status: 'in_progress',
      expiresAtMs: 500,
      reachedAtMs: { in_progress: 1 },
    });
    expect(finalizeDeadlineMs(job, LIMITS)).toBe(1500);
  });
});
