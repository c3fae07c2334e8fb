import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { filter, type Observable, type Subscription } from 'rxjs';
import { type TokenUsage } from '../../contracts/formats/usage.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelKind, type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { type InferenceEvent, InferenceSessions } from './inference-sessions.js';

abstract class InferenceMetrics implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(private readonly events: Observable<InferenceEvent>) {}

  onModuleInit(): void {
    this.#subscription = this.events.subscribe(event => this.observe(event));
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }

  protected abstract observe(event: InferenceEvent): void;
}

/** Time to the first byte, duration and count of syntheses by model. */
@Injectable()
class SpeechMetrics extends InferenceMetrics {
  constructor(
    { events$ }: InferenceSessions,
    @InjectMetric('tts_ttfb_seconds') private readonly firstByte: Histogram,
    @InjectMetric('tts_synthesis_duration_seconds') private readonly duration: Histogram,
    @InjectMetric('tts_requests_total') private readonly requests: Counter,
  ) {
    super(events$.pipe(filter(({ kind }) => kind === 'synthesize')));
  }

  protected observe(event: InferenceEvent): void {
    const { model } = event;
    if (event.type === 'first_output') this.firstByte.observe({ model }, event.afterMs / 1000);
    if (event.type !== 'settled') return;
    this.requests.inc({ model, status: event.status });
    if (event.status === 'completed') this.duration.observe({ model }, event.afterMs / 1000);
  }
}

/** Time to the first token, between tokens, and tokens by model. */
@Injectable()
class TextMetrics extends InferenceMetrics {
  constructor(
    { events$ }: InferenceSessions,
    @InjectMetric('llm_ttft_seconds') private readonly firstToken: Histogram,
    @InjectMetric('llm_inter_token_seconds') private readonly interToken: Histogram,
    @InjectMetric('llm_tokens_total') private readonly tokens: Counter,
  ) {
    super(events$.pipe(filter(({ kind }) => kind === 'generate' || kind === 'embed')));
  }

  protected observe(event: InferenceEvent): void {
    const { model } = event;
    if (event.type === 'first_output') this.firstToken.observe({ model }, event.afterMs / 1000);
    else if (event.type === 'next_output') this.interToken.observe({ model }, event.gapMs / 1000);
    else if (event.usage) this.#countTokens(model, event.usage);
  }

  #countTokens(model: string, { promptTokens, completionTokens, cachedTokens }: TokenUsage): void {
    this.tokens.inc({ model, type: 'prompt' }, promptTokens);
    this.tokens.inc({ model, type: 'completion' }, completionTokens);
    this.tokens.inc({ model, type: 'cached' }, cachedTokens);
  }
}

const readActive =
  (...kinds: readonly ModelKind[]) =>
  (gauge: Gauge, sessions: InferenceSessions, models: readonly ModelSpec[]): void => {
    const counts = sessions.countByModel();
    for (const { id, kind } of models) if (kinds.includes(kind)) gauge.set({ model: id }, counts.get(id) ?? 0);
  };

export const inferenceMetricProviders: Provider[] = [
  SpeechMetrics,
  TextMetrics,
  metricProvider('tts_ttfb_seconds'),
  metricProvider('tts_synthesis_duration_seconds'),
  metricProvider('tts_requests_total'),
  metricProvider('tts_active_sessions', { inject: [InferenceSessions, MODELS], collect: readActive('tts') }),
  metricProvider('llm_ttft_seconds'),
  metricProvider('llm_inter_token_seconds'),
  metricProvider('llm_tokens_total'),
  metricProvider('llm_active_requests', {
    inject: [InferenceSessions, MODELS],
    collect: readActive('llm', 'embedding'),
  }),
];
