import { Injectable, type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelKind, type ModelSpec } from '../../platform/config/model-spec.js';
import {
  counterMetric,
  histogramMetric,
  metricProvider,
} from '../../platform/metrics/metric-provider.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type SettledRequest } from '../registry/submitted-request.js';
import { type TrackedRequest } from '../registry/tracked-request.js';

/**
 * Time to the first byte, duration and count of syntheses; time to the first token,
 * between tokens, and tokens.
 */
@Injectable()
export class InferenceMetrics {
  readonly #firstByte = histogramMetric('tts_ttfb_seconds');
  readonly #duration = histogramMetric('tts_synthesis_duration_seconds');
  readonly #requests = counterMetric('tts_requests_total');
  readonly #firstToken = histogramMetric('llm_ttft_seconds');
  readonly #interToken = histogramMetric('llm_inter_token_seconds');
  readonly #tokens = counterMetric('llm_tokens_total');

  /** @param afterMs from its acceptance */
  firstOutput({ model, request: { payload } }: TrackedRequest, afterMs: number): void {
    if (payload.kind === 'synthesize') this.#firstByte.observe({ model }, afterMs / 1000);
    else if (payload.kind === 'generate') this.#firstToken.observe({ model }, afterMs / 1000);
  }

  nextOutput({ model, request: { payload } }: TrackedRequest, gapMs: number): void {
    if (payload.kind === 'generate') this.#interToken.observe({ model }, gapMs / 1000);
  }

  /** @param afterMs from its acceptance */
  settled(
    { model, request }: TrackedRequest,
    end: SettledRequest['settlement'],
    afterMs: number,
  ): void {
    if (request.payload.kind === 'synthesize') {
      this.#requests.inc({ model, status: end.status });
      if (end.status === 'completed') this.#duration.observe({ model }, afterMs / 1000);
    }
    // Only engines that count tokens report usage.
    if (end.status !== 'completed' || !('usage' in end.reply) || !end.reply.usage) return;
    const { usage } = end.reply;
    this.#tokens.inc({ model, type: 'prompt' }, usage.promptTokens);
    this.#tokens.inc({ model, type: 'completion' }, usage.completionTokens);
    this.#tokens.inc({ model, type: 'cached' }, usage.cachedTokens);
  }
}

const readActive =
  (...kinds: readonly ModelKind[]) =>
  (gauge: Gauge, registry: RequestRegistry, models: readonly ModelSpec[]): void => {
    const active = Map.groupBy(registry.unsettled(), ({ model }) => model);
    for (const { id, kind } of models)
      if (kinds.includes(kind)) gauge.set({ model: id }, active.get(id)?.length ?? 0);
  };

export const inferenceMetricProviders: Provider[] = [
  InferenceMetrics,
  metricProvider('tts_active_sessions', {
    inject: [RequestRegistry, MODELS],
    collect: readActive('tts'),
  }),
  metricProvider('llm_active_requests', {
    inject: [RequestRegistry, MODELS],
    collect: readActive('llm', 'embedding'),
  }),
];
