import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { type Subscription } from 'rxjs';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { type ActivityEvent, SessionActivity } from './session/session-activity.js';
import { RealtimeSessions } from './realtime-sessions.js';

/** The `stt_*` metrics of live sessions. */
@Injectable()
export class RealtimeMetrics implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(
    private readonly journal: SessionActivity,
    @InjectMetric('stt_ttfb_seconds') private readonly firstText: Histogram,
    @InjectMetric('stt_final_delay_seconds') private readonly finalDelay: Histogram,
    @InjectMetric('stt_vad_events_total') private readonly voice: Counter,
    @InjectMetric('stt_worker_recoveries_total') private readonly recoveries: Counter,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.journal.events$.subscribe(fact => this.#observe(fact));
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }

  #observe(fact: ActivityEvent): void {
    const { type, model } = fact;
    switch (type) {
      case 'first_text':
        return this.firstText.observe({ model }, fact.ms / 1000);
      case 'final_delay':
        return this.finalDelay.observe({ model }, fact.ms / 1000);
      case 'speech_started':
      case 'speech_stopped':
        return this.voice.inc({ model, event: type });
      case 'recovered':
      case 'failed':
        return this.recoveries.inc({ model, outcome: type });
      case 'recognised':
        // Counted as usage.
        return;
    }
  }
}

function readActive(
  gauge: Gauge,
  sessions: RealtimeSessions,
  models: readonly ModelSpec[],
): void {
  const counts = sessions.countByModel();
  for (const { id, kind } of models)
    if (kind === 'stt') gauge.set({ model: id }, counts.get(id) ?? 0);
}

export const realtimeMetricProviders: Provider[] = [
  RealtimeMetrics,
  metricProvider('stt_ttfb_seconds'),
  metricProvider('stt_final_delay_seconds'),
  metricProvider('stt_vad_events_total'),
  metricProvider('stt_worker_recoveries_total'),
  metricProvider('stt_active_sessions', {
    inject: [RealtimeSessions, MODELS],
    collect: readActive,
  }),
];
