import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { type Subscription } from 'rxjs';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { type SpeechEvent, SpeechSessions } from './speech-sessions.js';

/** The four TTS metrics of seeds/scheduling. */
@Injectable()
export class SpeechMetrics implements OnModuleInit, OnApplicationShutdown {
  private subscription: Subscription | undefined;

  constructor(
    private readonly sessions: SpeechSessions,
    @InjectMetric('tts_ttfb_seconds') private readonly firstByte: Histogram,
    @InjectMetric('tts_synthesis_duration_seconds') private readonly duration: Histogram,
    @InjectMetric('tts_requests_total') private readonly requests: Counter,
  ) {}

  onModuleInit(): void {
    this.subscription = this.sessions.events$.subscribe(event => this.observe(event));
  }

  onApplicationShutdown(): void {
    this.subscription?.unsubscribe();
  }

  private observe(event: SpeechEvent): void {
    const { model, afterMs } = event;
    if (event.type === 'first_byte') {
      this.firstByte.observe({ model }, afterMs / 1000);
      return;
    }
    this.requests.inc({ model, status: event.status });
    if (event.status === 'completed') this.duration.observe({ model }, afterMs / 1000);
  }
}

function readActive(gauge: Gauge, sessions: SpeechSessions, models: readonly ModelSpec[]): void {
  const counts = sessions.countByModel();
  for (const { id, kind } of models) if (kind === 'tts') gauge.set({ model: id }, counts.get(id) ?? 0);
}

export const speechMetricProviders: Provider[] = [
  SpeechMetrics,
  metricProvider('tts_ttfb_seconds'),
  metricProvider('tts_synthesis_duration_seconds'),
  metricProvider('tts_requests_total'),
  metricProvider('tts_active_sessions', { inject: [SpeechSessions, MODELS], collect: readActive }),
];
