import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { fedMetric, metricProvider } from '../../platform/metrics/metric-provider.js';
import { type MetricName } from '../../platform/metrics/registry.js';
import { type ActivityEvent, SessionActivity } from './session/session-activity.js';
import { RealtimeSessions } from './realtime-sessions.js';

const activityMetric = <M extends Counter | Histogram>(
  name: MetricName,
  count: (metric: M, event: ActivityEvent) => void,
): Provider =>
  fedMetric(name, [SessionActivity], (metric: M, { events$ }: SessionActivity) =>
    events$.subscribe(event => count(metric, event)),
  );

function readActive(
  gauge: Gauge,
  sessions: RealtimeSessions,
  models: readonly ModelSpec[],
): void {
  const counts = sessions.countByModel();
  for (const { id, kind } of models)
    if (kind === 'stt') gauge.set({ model: id }, counts.get(id) ?? 0);
}

/** The `stt_*` metrics of live sessions. */
export const realtimeMetricProviders: Provider[] = [
  activityMetric('stt_ttfb_seconds', (seconds: Histogram, event) => {
    if (event.type === 'first_text')
      seconds.observe({ model: event.model }, event.ms / 1000);
  }),
  activityMetric('stt_final_delay_seconds', (seconds: Histogram, event) => {
    if (event.type === 'final_delay')
      seconds.observe({ model: event.model }, event.ms / 1000);
  }),
  activityMetric('stt_vad_events_total', (voice: Counter, { type, model }) => {
    if (type === 'speech_started' || type === 'speech_stopped')
      voice.inc({ model, event: type });
  }),
  activityMetric(
    'stt_worker_recoveries_total',
    (recoveries: Counter, { type, model }) => {
      if (type === 'recovered' || type === 'failed')
        recoveries.inc({ model, outcome: type });
    },
  ),
  metricProvider('stt_active_sessions', {
    inject: [RealtimeSessions, MODELS],
    collect: readActive,
  }),
];
