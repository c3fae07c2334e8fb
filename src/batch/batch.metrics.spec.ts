import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { register } from 'prom-client';
import { metricValues } from '../../test/support/metric-values.js';
import { type BatchJob } from '../core/jobs/batch-job.js';
import { MODELS } from '../platform/config/config.module.js';
import { Settings } from '../platform/config/settings.js';
import { JobStore } from '../platform/database/job-store.js';
import { StorageOperations } from '../platform/storage/storage.metrics.js';
import { BATCH_METRICS } from './batch.metrics.js';
import { LineDispatcher } from './execute/line-dispatcher.js';
import { TargetResolver } from './execute/target-resolver.js';
import { JobMetrics, LineMetrics } from './observe/job.metrics.js';
import { JobSupervisor } from './runner/job-supervisor.js';

const NOW = Date.UTC(2026, 0, 1);
const job = (changes: Partial<BatchJob> = {}): BatchJob =>
  ({
    id: 'batch_1',
    status: 'in_progress',
    createdAtMs: NOW - 60_000,
    expiresAtMs: NOW + 10_000,
    counts: { total: 150, completed: 100, failed: 50 },
    reachedAtMs: { in_progress: NOW - 50_000 },
    problems: [],
    ...changes,
  }) as BatchJob;

/** A batch whose 20 of 100 lines took 10 s: the other 80 take 40 s. */
const working = (expiresAtMs: number, pendingSinceMs?: number) => ({
  lease: { job: job({ expiresAtMs }) },
  running: {
    startedMs: NOW - 10_000,
    doneAtStart: 0,
    log: { progress: { done: 20, remaining: 80 }, pendingSinceMs },
  },
});

describe('metrics of the processor', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW, advanceTimers: true }));
  afterEach(() => {
    jest.useRealTimers();
    register.clear();
  });

  async function metrics() {
    const targets = new TargetResolver(
      { kind: 'per_model', targets: new Map() },
      { concurrencyPerModel: 10 },
    );
    for (const model of ['alias', 'alias', 'unknown-1', 'unknown-2'])
      targets.gateOf(model).acquire();
    const pendingSinceMs = performance.now() - 2500;
    const works = [
      working(NOW + 39_000, pendingSinceMs),
      working(NOW + 41_000),
      { lease: { job: job() } },
    ];
    const backlog = () =>
      Promise.resolve({ byStatus: { validating: 2, completed: 7 }, oldestWaitingMs: 90_000 });
    return Test.createTestingModule({
      providers: [
        ...BATCH_METRICS,
        { provide: Settings, useValue: { batch: { jobs: 4, concurrency: 100 } } },
        { provide: JobSupervisor, useValue: { size: 3, works } },
        { provide: LineDispatcher, useValue: { inFlight: 17 } },
        { provide: TargetResolver, useValue: targets },
        { provide: MODELS, useValue: [{ id: 'm', aliases: ['alias'] }] },
        { provide: JobStore, useValue: { backlog } },
        { provide: StorageOperations, useValue: {} },
      ],
    }).compile();
  }

  it('reads gauges from their sources', async () => {
    await metrics();
    expect(await metricValues('total_workers')).toEqual({ '': 4 });
    expect(await metricValues('active_workers')).toEqual({ '': 3 });
    expect(await metricValues('processor_inflight_requests')).toEqual({ '': 17 });
    expect(await metricValues('processor_max_inflight_concurrency')).toEqual({ '': 100 });
    expect(await metricValues('model_inflight_requests')).toEqual({ m: 2, other: 2 });
    expect(await metricValues('batch_jobs')).toEqual({ validating: 2, completed: 7 });
    expect(await metricValues('batch_queue_age_seconds')).toEqual({ '': 90 });
  });

  it('counts a batch at risk when its remaining lines take longer than its remaining time', async () => {
    await metrics();
    expect(await metricValues('batch_deadline_risk_jobs')).toEqual({ '': 1 });
  });

  it('reports the age of the oldest result that is not durable', async () => {
    await metrics();
    expect((await metricValues('batch_checkpoint_lag_seconds'))['']).toBeCloseTo(2.5, 1);
  });

  it('measures a batch from its creation to its end', async () => {
    const counted = (await metrics()).get(JobMetrics);
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
    const counted = (await metrics()).get(JobMetrics);
    counted.ended(job(), 'completed', 1);
    counted.ended(job({ reachedAtMs: {} }), 'expired', 1);
    counted.ended(job(), 'expired', 1);
    counted.ended(job({ problems: [{ code: 'internal_error' }] as never }), 'failed', 1);
    counted.ended(job({ problems: [{ code: 'empty_file' }] as never }), 'failed', 1);
    counted.ended(job({ reachedAtMs: {} }), 'cancelled', 1);
    counted.ended(job(), 'cancelled', 1);
    counted.ended(job({ reachedAtMs: { finalizing: NOW } }), 'cancelled', 1);
    counted.handedOver('preempted');
    expect(await metricValues('jobs_processed_total')).toEqual({
      'success none': 1,
      'expired expired_dequeue': 1,
      'expired expired_execution': 1,
      'failed system_error': 1,
      'failed invalid_input': 1,
      'cancelled none': 3,
      're_enqueued preempted': 1,
    });
    expect(await metricValues('batch_cancellation_total')).toEqual({
      queued: 1,
      in_progress: 1,
      finalizing: 1,
    });
  });

  it('counts lines by model: attempts, retries, errors and tokens', async () => {
    const counted = (await metrics()).get(LineMetrics);
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
    const counted = (await metrics()).get(JobMetrics);
    counted.recovered('unknown', 'cleaned_up');
    counted.webhook('sent');
    counted.webhook('retry');
    counted.webhook('retry');
    expect(await metricValues('batch_startup_recovery_total')).toEqual({ 'unknown cleaned_up': 1 });
    expect(await metricValues('batch_webhooks_total')).toEqual({ sent: 1, retry: 2 });
  });
});
