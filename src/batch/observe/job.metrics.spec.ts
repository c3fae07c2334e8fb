import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { register } from 'prom-client';
import { metricValues } from '../../../test/support/metric-values.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type StorageOperations } from '../../platform/storage/storage.metrics.js';
import { JobMetrics, LineMetrics } from './job.metrics.js';

const NOW = Date.UTC(2026, 0, 1);
const job = (changes: Partial<BatchJob> = {}): BatchJob =>
  ({
    ...{ id: 'batch_1', status: 'in_progress', createdAtMs: NOW - 60_000 },
    counts: { total: 150, completed: 100, failed: 50 },
    ...{ reachedAtMs: { in_progress: NOW - 50_000 }, problems: [], ...changes },
  }) as BatchJob;

describe('what a processor counts', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => {
    jest.useRealTimers();
    register.clear();
  });

  const jobMetrics = () => new JobMetrics({} as StorageOperations);
  const lineMetrics = () =>
    new LineMetrics([{ id: 'm', aliases: ['alias'] }] as unknown as ModelSpec[], ['target']);

  it('measures a batch from its creation to its end', async () => {
    const counted = jobMetrics();
    counted.claimed(job({ status: 'validating', createdAtMs: NOW - 5000 }));
    counted.claimed(job());
    expect(await metricValues('job_queue_wait_duration_seconds')).toEqual({ sum: 5, count: 1 });
    counted.planBuilt(20_000, 1.5);
    expect(await metricValues('plan_build_duration_seconds')).toMatchObject({
      'above 10000 sum': 1.5,
    });
    counted.ended(job(), 'completed', 50);
    expect(await metricValues('job_processing_duration_seconds')).toMatchObject({
      'up to 1000 sum': 50,
    });
    expect(await metricValues('batch_job_e2e_latency_seconds')).toMatchObject({
      'completed sum': 60,
    });
  });

  it('counts batches by result and reason, and cancels by phase', async () => {
    const counted = jobMetrics();
    counted.ended(job(), 'completed', 1);
    counted.ended(job({ reachedAtMs: {} }), 'expired', 1);
    counted.ended(job({ reachedAtMs: {} }), 'expired', 1);
    counted.ended(job(), 'expired', 1);
    counted.ended(job({ problems: [{ code: 'internal_error' }] as never }), 'failed', 1);
    counted.ended(job({ problems: [{ code: 'empty_file' }] as never }), 'failed', 1);
    counted.ended(job({ reachedAtMs: {} }), 'cancelled', 1);
    counted.ended(job({ reachedAtMs: {} }), 'cancelled', 1);
    counted.ended(job(), 'cancelled', 1);
    counted.ended(job({ reachedAtMs: { finalizing: NOW } }), 'cancelled', 1);
    counted.handedOver('preempted');
    expect(await metricValues('jobs_processed_total')).toEqual({
      'success none': 1,
      'expired expired_dequeue': 2,
      'expired expired_execution': 1,
      'failed system_error': 1,
      'failed invalid_input': 1,
      'cancelled none': 4,
      're_enqueued preempted': 1,
    });
    expect(await metricValues('batch_cancellation_total')).toEqual({
      queued: 2,
      in_progress: 1,
      finalizing: 1,
    });
  });

  it('counts lines by model: attempts, retries, errors and tokens', async () => {
    const counted = lineMetrics();
    const usage = { inputTokens: 9, outputTokens: 4, cachedTokens: 0, reasoningTokens: 0 };
    counted.attempted('alias', 2);
    counted.retried('m', '429');
    counted.settled('m', true, usage);
    counted.settled('unknown', false, undefined);
    expect(await metricValues('model_request_execution_duration_seconds')).toMatchObject({
      'm sum': 2,
      'm count': 1,
    });
    expect(await metricValues('batch_line_retries_total')).toEqual({ 'm 429': 1 });
    expect(await metricValues('request_errors_by_model_total')).toEqual({ other: 1 });
    expect(await metricValues('batch_request_prompt_tokens_total')).toEqual({ m: 9 });
    expect(await metricValues('batch_request_generation_tokens_total')).toEqual({ m: 4 });
  });

  it('counts work folders found at the start, and webhooks', async () => {
    const counted = jobMetrics();
    counted.recovered('unknown', 'cleaned_up');
    counted.webhook('sent');
    counted.webhook('retry');
    counted.webhook('retry');
    expect(await metricValues('batch_startup_recovery_total')).toEqual({ 'unknown cleaned_up': 1 });
    expect(await metricValues('batch_webhooks_total')).toEqual({ sent: 1, retry: 2 });
  });

  it.each([
    [100, 'up to 100'],
    [101, 'up to 1000'],
    [1000, 'up to 1000'],
    [10_000, 'up to 10000'],
    [10_001, 'above 10000'],
  ])('separates batches of %i lines by size: %s', async (lines, bucket) => {
    jobMetrics().planBuilt(lines, 1);
    const sizes = await metricValues('plan_build_duration_seconds');
    expect(Object.keys(sizes)).toEqual([`${bucket} sum`, `${bucket} count`]);
  });

  it('counts what was stored under the processor', () => {
    const count = jest.fn();
    new JobMetrics({ count } as unknown as StorageOperations).stored('store', 'retry');
    expect(count).toHaveBeenCalledWith('processor', 'store', 'retry');
  });

  it('names the models that the configuration names, by their ids', () => {
    const counted = lineMetrics();
    const labels = ['m', 'alias', 'target', 'anything'].map(name => counted.labelOf(name));
    expect(labels).toEqual(['m', 'm', 'target', 'other']);
  });

  it.each([
    ['storage_unavailable', 'system_error'],
    ['not_internal_error', 'invalid_input'],
  ])('takes a failure with %s as %s', async (code, reason) => {
    jobMetrics().ended(job({ problems: [{ code }] as never }), 'failed', 1);
    expect(await metricValues('jobs_processed_total')).toEqual({ [`failed ${reason}`]: 1 });
  });
});
