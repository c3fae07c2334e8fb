import { type Gauge } from 'prom-client';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { RealtimeSessions } from './realtime-sessions.js';

function readActive(gauge: Gauge, sessions: RealtimeSessions, models: readonly ModelSpec[]): void {
  const counts = sessions.countByModel();
  for (const { id, kind } of models)
    if (kind === 'stt') gauge.set({ model: id }, counts.get(id) ?? 0);
}

/** How many live sessions there are. */
export const activeSessions = metricProvider('stt_active_sessions', {
  inject: [RealtimeSessions, MODELS],
  collect: readActive,
});
