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
import { type GenerateTask, type WorkerTask } from '../worker-pool/worker-task.js';

/** By the form of a generation: OpenTelemetry's name of the operation. */
const OPERATIONS: Readonly<Partial<Record<GenerateTask['form'], string>>> = {
  chat: 'chat',
  response: 'chat',
  message: 'chat',
  completion: 'text_completion',
};

type Labels = Readonly<Record<'gen_ai_operation_name' | 'gen_ai_request_model', string>>;

/** Undefined: OpenTelemetry has no name for it. */
function genAiLabels(model: string, payload: WorkerTask): Labels | undefined {
  const embeds = payload.kind === 'embed' && payload.form === undefined;
  const generates = payload.kind === 'generate' ? OPERATIONS[payload.form] : undefined;
  const gen_ai_operation_name = embeds ? 'embeddings' : generates;
  return gen_ai_operation_name === undefined
    ? undefined
    : { gen_ai_operation_name, gen_ai_request_model: model };
}

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

  readonly #genAi = {
    firstToken: histogramMetric('gen_ai_server_time_to_first_token_seconds'),
    duration: histogramMetric('gen_ai_server_request_duration_seconds'),
    tokens: histogramMetric('gen_ai_client_token_usage'),
  };

  /** @param afterMs from its acceptance */
  firstOutput({ model, request: { payload } }: TrackedRequest, afterMs: number): void {
    if (payload.kind === 'synthesize') this.#firstByte.observe({ model }, afterMs / 1000);
    else if (payload.kind === 'generate') {
      this.#firstToken.observe({ model }, afterMs / 1000);
      const labels = genAiLabels(model, payload);
      if (labels) this.#genAi.firstToken.observe(labels, afterMs / 1000);
    }
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
    const labels = genAiLabels(model, request.payload);
    if (labels) this.#generated(labels, end, afterMs);
    // Only engines that count tokens report usage.
    if (end.status !== 'completed' || !('usage' in end.reply) || !end.reply.usage) return;
    const { usage } = end.reply;
    this.#tokens.inc({ model, type: 'prompt' }, usage.promptTokens);
    this.#tokens.inc({ model, type: 'completion' }, usage.completionTokens);
    this.#tokens.inc({ model, type: 'cached' }, usage.cachedTokens);
  }

  #generated(labels: Labels, end: SettledRequest['settlement'], afterMs: number): void {
    const failure = end.status === 'completed' ? {} : { error_type: end.error.code };
    this.#genAi.duration.observe({ ...labels, ...failure }, afterMs / 1000);
    if (end.status !== 'completed' || !('usage' in end.reply) || !end.reply.usage) return;
    const { promptTokens, completionTokens } = end.reply.usage;
    this.#genAi.tokens.observe({ ...labels, gen_ai_token_type: 'input' }, promptTokens);
    if (completionTokens > 0)
      this.#genAi.tokens.observe({ ...labels, gen_ai_token_type: 'output' }, completionTokens);
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
