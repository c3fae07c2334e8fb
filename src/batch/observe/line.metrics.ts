import { Inject, Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { Counter, Histogram } from 'prom-client';
import type { TokenUsage } from '../../core/jobs/batch-job.js';
import { MODELS } from '../../platform/config/config.module.js';
import type { ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import type { LineEvents } from '../execute/line-sender.js';
import { TargetResolver } from '../execute/target-resolver.js';

/** Label values of models: names that configuration knows, by their canonical id; anything else is `other`, so that clients make no series. */
@Injectable()
export class ModelLabels {
  readonly #labels = new Map<string, string>();

  constructor(@Inject(MODELS) models: readonly ModelSpec[], targets: TargetResolver) {
    for (const { id, aliases } of models) for (const name of [id, ...aliases]) this.#labels.set(name, id);
    for (const name of targets.knownModels) this.#labels.set(name, name);
  }

  of(model: string): string {
    return this.#labels.get(model) ?? 'other';
  }
}

/** Counts what happens to lines. */
@Injectable()
export class LineMetrics implements LineEvents {
  constructor(
    private readonly labels: ModelLabels,
    @InjectMetric('model_request_execution_duration_seconds') private readonly duration: Histogram,
    @InjectMetric('request_errors_by_model_total') private readonly errors: Counter,
    @InjectMetric('batch_request_prompt_tokens_total') private readonly promptTokens: Counter,
    @InjectMetric('batch_request_generation_tokens_total') private readonly generatedTokens: Counter,
    @InjectMetric('batch_line_retries_total') private readonly retries: Counter,
  ) {}

  attempted(model: string, seconds: number): void {
    this.duration.observe({ model: this.labels.of(model) }, seconds);
  }

  retried(model: string, reason: string): void {
    this.retries.inc({ model: this.labels.of(model), reason });
  }

  settled(model: string, good: boolean, usage: TokenUsage | undefined): void {
    const labels = { model: this.labels.of(model) };
    if (!good) this.errors.inc(labels);
    if (!usage) return;
    this.promptTokens.inc(labels, usage.inputTokens);
    this.generatedTokens.inc(labels, usage.outputTokens);
  }
}

export const LINE_METRICS: Provider[] = [
  ModelLabels,
  LineMetrics,
  metricProvider('model_request_execution_duration_seconds'),
  metricProvider('request_errors_by_model_total'),
  metricProvider('batch_request_prompt_tokens_total'),
  metricProvider('batch_request_generation_tokens_total'),
  metricProvider('batch_line_retries_total'),
];
