import { describe, expect, it } from '@jest/globals';
import { type BatchJob } from '../../../../core/jobs/batch-job.js';
import { newJob } from '../batches.service.js';
import { paceOf } from './batch.dto.js';

const NOW = 1_000_000;

function job(overrides: Partial<BatchJob>): BatchJob {
  const order = {
    endpoint: '/v1/embeddings',
    inputFileId: 'f',
    completionWindow: '24h',
    metadata: {},
  } as const;
  return {
    ...newJob('t', order, 0),
    status: 'in_progress',
    reachedAtMs: { in_progress: NOW - 10_000 },
    ...overrides,
  };
}

describe('jobPace', () => {
  it('is lines over time, failed ones included, and the rest at that rate', () => {
    const counts = { total: 100, completed: 15, failed: 5 };
    expect(paceOf(job({ counts }), NOW)).toEqual({ rate_per_s: 2, eta_s: 40 });
  });

  it('promises no end before the first line', () => {
    expect(paceOf(job({ counts: { total: 100, completed: 0, failed: 0 } }), NOW)).toEqual({
      rate_per_s: 0,
      eta_s: null,
    });
  });

  it.each([
    ['before it begins', { status: 'validating', reachedAtMs: {} }],
    ['in its first half second', { reachedAtMs: { in_progress: NOW - 499 } }],
    ['after its end', { status: 'completed' }],
  ] as const)('is not known %s', (_, overrides) => {
    expect(paceOf(job(overrides), NOW)).toEqual({ rate_per_s: null, eta_s: null });
  });
});
