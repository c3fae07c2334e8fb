import { type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { MODELS } from '../platform/config/config.module.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { Settings } from '../platform/config/settings.js';
import { JobStore } from '../platform/database/job-store.js';
import { metricProvider } from '../platform/metrics/metric-provider.js';
import { LineDispatcher } from './execute/line-dispatcher.js';
import { TargetResolver } from './execute/target-resolver.js';
import { type ClaimedJob } from './job/claimed-job.js';
import { JobMetrics, LineMetrics } from './observe/job.metrics.js';
import { JobSupervisor } from './runner/job-supervisor.js';

/**
 * True if the remaining lines take longer than the remaining time at the rate since this
 * processor claimed the batch. False without a rate.
 */
function missesDeadline({ lease, running }: ClaimedJob, nowMs: number): boolean {
  if (!running) return false;
  const { log, startedMs, doneAtStart } = running;
  const { done, remaining } = log.progress;
  const here = done - doneAtStart;
  if (here <= 0 || nowMs <= startedMs) return false;
  return ((nowMs - startedMs) / here) * remaining > lease.job.expiresAtMs - nowMs;
}

/**
 * All metrics of the processor. Gauges are read from the objects that own
 * the numbers (D-10).
 */
export const BATCH_METRICS: Provider[] = [
  JobMetrics,
  {
    provide: LineMetrics,
    inject: [MODELS, TargetResolver],
    useFactory: (models: readonly ModelSpec[], targets: TargetResolver) =>
      new LineMetrics(models, targets.knownModels),
  },
  metricProvider('total_workers', {
    inject: [Settings],
    collect: (gauge, { batch }: Settings) => gauge.set(batch.jobs),
  }),
  metricProvider('active_workers', {
    inject: [JobSupervisor],
    collect: (gauge, supervisor: JobSupervisor) => gauge.set(supervisor.size),
  }),
  metricProvider('processor_inflight_requests', {
    inject: [LineDispatcher],
    collect: (gauge, dispatcher: LineDispatcher) => gauge.set(dispatcher.inFlight),
  }),
  metricProvider('processor_max_inflight_concurrency', {
    inject: [Settings],
    collect: (gauge, { batch }: Settings) => gauge.set(batch.concurrency),
  }),
  metricProvider('model_inflight_requests', {
    inject: [TargetResolver, LineMetrics],
    collect: inFlightByModel,
  }),
  metricProvider('batch_jobs', { inject: [JobStore], collect: jobsByStatus }),
  metricProvider('batch_queue_age_seconds', { inject: [JobStore], collect: queueAge }),
  metricProvider('batch_deadline_risk_jobs', {
    inject: [JobSupervisor],
    collect: jobsAtRisk,
  }),
  metricProvider('batch_checkpoint_lag_seconds', {
    inject: [JobSupervisor],
    collect: checkpointLag,
  }),
];

/** `inc`: several models may share the label `other`. */
function inFlightByModel(gauge: Gauge, targets: TargetResolver, metrics: LineMetrics): void {
  for (const { model, inFlight } of targets.inFlight())
    gauge.inc({ model: metrics.labelOf(model) }, inFlight);
}

async function jobsByStatus(gauge: Gauge, store: JobStore): Promise<void> {
  const { byStatus } = await store.backlog();
  for (const [status, count] of Object.entries(byStatus)) gauge.set({ status }, count);
}

async function queueAge(gauge: Gauge, store: JobStore): Promise<void> {
  const { oldestWaitingMs = 0 } = await store.backlog();
  gauge.set(oldestWaitingMs / 1000);
}

function jobsAtRisk(gauge: Gauge, supervisor: JobSupervisor): void {
  const nowMs = Date.now();
  gauge.set(supervisor.works.filter(work => missesDeadline(work, nowMs)).length);
}

function checkpointLag(gauge: Gauge, supervisor: JobSupervisor): void {
  const since = supervisor.works.flatMap(({ running }) => running?.log.pendingSinceMs ?? []);
  gauge.set(since.length === 0 ? 0 : (performance.now() - Math.min(...since)) / 1000);
}
