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

  async function metrics(given?: readonly object[], age: object = { oldestWaitingMs: 90_000 }) {
    const targets = new TargetResolver(
      { kind: 'per_model', targets: new Map() },
      { concurrencyPerModel: 10 },
    );
    for (const model of ['alias', 'alias', 'unknown-1', 'unknown-2'])
      targets.gateOf(model).acquire();
    const pendingSinceMs = performance.now() - 2500;
    const works = given ?? [
      working(NOW + 39_000, pendingSinceMs),
      working(NOW + 41_000, performance.now() - 100),
      { lease: { job: job() } },
    ];
    const backlog = () => Promise.resolve({ byStatus: { validating: 2, completed: 7 }, ...age });
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

  it.each([
    ['takes as long as there is time', {}, NOW + 40_000, 0],
    ['takes longer', {}, NOW + 39_999, 1],
    ['has no rate yet', { doneAtStart: 20 }, NOW, 0],
    ['has a rate of its own lines only', { doneAtStart: 10 }, NOW + 79_999, 1],
    ['has answered one line', { doneAtStart: 19 }, NOW + 799_999, 1],
    ['began at this instant', { startedMs: NOW }, NOW - 1, 0],
    ['began before', { startedMs: NOW - 20 }, NOW + 79, 1],
  ])('that %s is at risk, or not: %j', async (_, running, expiresAtMs, atRisk) => {
    const work = working(expiresAtMs);
    await metrics([{ ...work, running: { ...work.running, ...running } }]);
    expect(await metricValues('batch_deadline_risk_jobs')).toEqual({ '': atRisk });
  });

  it('reports no lag and no age where nothing waits', async () => {
    await metrics([working(NOW)], {});
    expect(await metricValues('batch_checkpoint_lag_seconds')).toEqual({ '': 0 });
    expect(await metricValues('batch_queue_age_seconds')).toEqual({ '': 0 });
  });

  it('reports the age of the oldest result that is not durable', async () => {
    await metrics();
    expect((await metricValues('batch_checkpoint_lag_seconds'))['']).toBeCloseTo(2.5, 1);
  });
});
