import { describe, expect, it } from '@jest/globals';
import {
  BATCH_STATUSES,
  type BatchStatus,
  isCancellable,
  isTerminal,
  mayBecome,
} from './batch-status.js';

describe('Batch status', () => {
  it('ends as completed, failed, expired or cancelled, and nothing follows', () => {
    const ends = BATCH_STATUSES.filter(isTerminal);
    expect(ends).toEqual(['completed', 'failed', 'expired', 'cancelled']);
    for (const end of ends) expect(BATCH_STATUSES.some(next => mayBecome(end, next))).toBe(false);
  });

  it('can be cancelled until finalizing begins', () => {
    expect(BATCH_STATUSES.filter(isCancellable)).toEqual([
      'validating',
      'in_progress',
      'finalizing',
    ]);
  });

  it('reaches every status from validating', () => {
    const reached = new Set<BatchStatus>(['validating']);
    // A Set grows while it is walked: each status that is reached is looked from as well.
    for (const from of reached)
      BATCH_STATUSES.filter(to => mayBecome(from, to)).forEach(to => reached.add(to));
    expect(reached.size).toBe(BATCH_STATUSES.length);
  });
});
