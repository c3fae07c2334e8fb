import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { type Subscription } from 'rxjs';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { type GenerationEvent, GenerationSessions } from './generation-sessions.js';

/** Time to the first token, between tokens, and tokens by model. */
@Injectable()
export class GenerationMetrics implements OnModuleInit, OnApplicationShutdown {
  private subscription: Subscription | undefined;

  constructor(
    private readonly sessions: GenerationSessions,
    @InjectMetric('llm_ttft_seconds') private readonly firstToken: Histogram,
    @InjectMetric('llm_inter_token_seconds') private readonly interToken: Histogram,
    @InjectMetric('llm_tokens_total') private readonly tokens: Counter,
  ) {}

  onModuleInit(): void {
    this.subscription = this.sessions.events$.subscribe(event => this.observe(event));
  }

  onApplicationShutdown(): void {
    this.subscription?.unsubscribe();
  }

  private observe(event: GenerationEvent): void {
    const { model } = event;
    switch (event.type) {
      case 'first_token':
        return this.firstToken.observe({ model }, event.afterMs / 1000);
      case 'next_token':
        return this.interToken.observe({ model }, event.gapMs / 1000);
      case 'used': {
        const { promptTokens, completionTokens, cachedTokens } = event.usage;
        this.tokens.inc({ model, type: 'prompt' }, promptTokens);
        this.tokens.inc({ model, type: 'completion' }, completionTokens);
        this.tokens.inc({ model, type: 'cached' }, cachedTokens);
      }
    }
  }
}

function readActive(gauge: Gauge, sessions: GenerationSessions, models: readonly ModelSpec[]): void {
  const counts = sessions.countByModel();
  for (const { id, kind } of models) {
    if (kind === 'llm' || kind === 'embedding') gauge.set({ model: id }, counts.get(id) ?? 0);
  }
}

export const generationMetricProviders: Provider[] = [
  GenerationMetrics,
  metricProvider('llm_ttft_seconds'),
  metricProvider('llm_inter_token_seconds'),
  metricProvider('llm_tokens_total'),
  metricProvider('llm_active_requests', { inject: [GenerationSessions, MODELS], collect: readActive }),
];
