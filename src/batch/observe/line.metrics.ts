import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Histogram } from 'prom-client';
import { type BatchUsage } from '../../core/jobs/batch-job.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

/**
 * Label values of models: the canonical id of configured names, else `other`, so that
 * clients cannot create series.
 */
export class ModelLabels {
  readonly #labels = new Map<string, string>();

  /** @param targetModels models that the targets file names */
  constructor(models: readonly ModelSpec[], targetModels: readonly string[]) {
    for (const { id, aliases } of models)
      for (const name of [id, ...aliases]) this.#labels.set(name, id);
    for (const name of targetModels) this.#labels.set(name, name);
  }

  of(model: string): string {
    return this.#labels.get(model) ?? 'other';
  }
}

/** Counts events of lines. */
@Injectable()
export class LineMetrics {
  constructor(
    private readonly labels: ModelLabels,
    @InjectMetric('model_request_execution_duration_seconds')
    private readonly duration: Histogram,
    @InjectMetric('request_errors_by_model_total') private readonly errors: Counter,
    @InjectMetric('batch_request_prompt_tokens_total')
    private readonly promptTokens: Counter,
    @InjectMetric('batch_request_generation_tokens_total')
    private readonly generatedTokens: Counter,
    @InjectMetric('batch_line_retries_total') private readonly retries: Counter,
  ) {}

  attempted(model: string, seconds: number): void {
    this.duration.observe({ model: this.labels.of(model) }, seconds);
  }

  retried(model: string, reason: string): void {
    this.retries.inc({ model: this.labels.of(model), reason });
  }

  settled(model: string, good: boolean, usage: BatchUsage | undefined): void {
    const labels = { model: this.labels.of(model) };
    if (!good) this.errors.inc(labels);
    if (!usage) return;
    this.promptTokens.inc(labels, usage.inputTokens);
    this.generatedTokens.inc(labels, usage.outputTokens);
  }
}

export const LINE_METRICS: Provider[] = [
  LineMetrics,
  metricProvider('model_request_execution_duration_seconds'),
  metricProvider('request_errors_by_model_total'),
  metricProvider('batch_request_prompt_tokens_total'),
  metricProvider('batch_request_generation_tokens_total'),
  metricProvider('batch_line_retries_total'),
];
