import { Injectable } from '@nestjs/common';
import { type BatchJob, type BatchUsage } from '../../core/jobs/batch-job.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { counterMetric, histogramMetric } from '../../platform/metrics/metric-provider.js';
import {
  type StorageOperation,
  StorageOperations,
  type StorageStatus,
} from '../../platform/storage/storage.metrics.js';

/**
 * Counts events of lines. Label values of models are the canonical ids of configured
 * names, else `other`, so that clients cannot create series.
 */
export class LineMetrics {
  readonly #duration = histogramMetric('model_request_execution_duration_seconds');
  readonly #errors = counterMetric('request_errors_by_model_total');
  readonly #promptTokens = counterMetric('batch_request_prompt_tokens_total');
  readonly #generatedTokens = counterMetric('batch_request_generation_tokens_total');
  readonly #retries = counterMetric('batch_line_retries_total');
  readonly #labels = new Map<string, string>();

  /** @param targetModels models that the targets file names */
  constructor(models: readonly ModelSpec[], targetModels: readonly string[]) {
    for (const { id, aliases } of models)
      for (const name of [id, ...aliases]) this.#labels.set(name, id);
    for (const name of targetModels) this.#labels.set(name, name);
  }

  labelOf(model: string): string {
    return this.#labels.get(model) ?? 'other';
  }

  attempted(model: string, seconds: number): void {
    this.#duration.observe({ model: this.labelOf(model) }, seconds);
  }

  retried(model: string, reason: string): void {
    this.#retries.inc({ model: this.labelOf(model), reason });
  }

  settled(model: string, good: boolean, usage: BatchUsage | undefined): void {
    const labels = { model: this.labelOf(model) };
    if (!good) this.#errors.inc(labels);
    if (!usage) return;
    this.#promptTokens.inc(labels, usage.inputTokens);
    this.#generatedTokens.inc(labels, usage.outputTokens);
  }
}

/** Counts events of batches, their blobs, work folders and webhooks. */
@Injectable()
export class JobMetrics {
  readonly #processed = counterMetric('jobs_processed_total');
  readonly #processing = histogramMetric('job_processing_duration_seconds');
  readonly #queueWait = histogramMetric('job_queue_wait_duration_seconds');
  readonly #planBuild = histogramMetric('plan_build_duration_seconds');
  readonly #endToEnd = histogramMetric('batch_job_e2e_latency_seconds');
  readonly #cancellations = counterMetric('batch_cancellation_total');
  readonly #recoveries = counterMetric('batch_startup_recovery_total');
  readonly #webhooks = counterMetric('batch_webhooks_total');

  constructor(private readonly operations: StorageOperations) {}

  /** The first claim of a job ends its queue wait. */
  claimed({ status, createdAtMs }: BatchJob): void {
    if (status === 'validating') this.#queueWait.observe((Date.now() - createdAtMs) / 1000);
  }

  planBuilt(lines: number, seconds: number): void {
    this.#planBuild.observe({ size_bucket: sizeBucket(lines) }, seconds);
  }

  ended(
    job: BatchJob,
    ending: 'completed' | 'failed' | 'expired' | 'cancelled',
    seconds: number,
  ): void {
    const result = ending === 'completed' ? 'success' : ending;
    this.#processed.inc({ result, reason: reasonOf(job, ending) });
    this.#processing.observe({ size_bucket: sizeBucket(job.counts.total) }, seconds);
    this.#endToEnd.observe({ status: ending }, (Date.now() - job.createdAtMs) / 1000);
    if (ending === 'cancelled') this.#cancellations.inc({ phase: phaseOf(job) });
  }

  /**
   * A processor released a batch. `db_transient`: the database did not respond until
   * the lease had run out.
   */
  handedOver(reason: 'guard_shutdown' | 'lease_lost' | 'preempted' | 'db_transient'): void {
    this.#processed.inc({ result: 're_enqueued', reason });
  }

  stored(operation: StorageOperation, status: StorageStatus): void {
    this.operations.count('processor', operation, status);
  }

  /** A work folder was found at start. */
  recovered(status: string, action: 'kept' | 'cleaned_up'): void {
    this.#recoveries.inc({ status, action });
  }

  webhook(outcome: 'sent' | 'retry' | 'given_up'): void {
    this.#webhooks.inc({ outcome });
  }
}

/** Separates small and large batches with a bounded number of labels. */
function sizeBucket(lines: number): string {
  const limit = [100, 1000, 10_000].find(most => lines <= most);
  return limit === undefined ? 'above 10000' : `up to ${limit}`;
}

function reasonOf({ reachedAtMs, problems }: BatchJob, ending: string): string {
  if (ending === 'expired')
    return reachedAtMs.in_progress === undefined ? 'expired_dequeue' : 'expired_execution';
  if (ending === 'failed')
    return /^(internal_error|storage_unavailable)$/.test(problems[0]?.code ?? '')
      ? 'system_error'
      : 'invalid_input';
  return 'none';
}

function phaseOf({ reachedAtMs }: BatchJob): string {
  if (reachedAtMs.finalizing !== undefined) return 'finalizing';
  return reachedAtMs.in_progress === undefined ? 'queued' : 'in_progress';
}
