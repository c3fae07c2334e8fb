import { describe, expect, it } from '@jest/globals';
import { BATCH_STATUSES, isCancellable, isTerminal, mayBecome } from './batch-status.js';

describe('Batch status', () => {
  it('ends as completed, failed, expired or cancelled, and nothing follows', () => {
    const ends = BATCH_STATUSES.filter(isTerminal);
    expect(ends).toEqual(['completed', 'failed', 'expired', 'cancelled']);
    for (const end of ends) expect(BATCH_STATUSES.some(next => mayBecome(end, next))).toBe(false);
  });

  it('can be cancelled until finalizing begins', () => {
    expect(BATCH_STATUSES.filter(isCancellable)).toEqual(['validating', 'in_progress']);
  });

  it('reaches every status from validating', () => {
    const reached = new Set<string>(['validating']);
    for (let round = 0; round < BATCH_STATUSES.length; round++)
      for (const from of BATCH_STATUSES)
        for (const to of BATCH_STATUSES) if (reached.has(from) && mayBecome(from, to)) reached.add(to);
    expect(reached.size).toBe(BATCH_STATUSES.length);
  });
});
