import { type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { metricProvider } from '../metrics/metric-provider.js';
import { DependencyMonitor } from './dependency-monitor.js';

function readUp(gauge: Gauge, monitor: DependencyMonitor) {
  for (const [dependency, { status }] of monitor.states()) {
    if (status !== 'unknown') gauge.set({ dependency }, status === 'up' ? 1 : 0);
  }
}

function readAge(gauge: Gauge, monitor: DependencyMonitor) {
  for (const [dependency, { checkedMs }] of monitor.states()) {
    if (checkedMs !== undefined)
      gauge.set({ dependency }, Math.max(0, Date.now() - checkedMs) / 1000);
  }
}

export const dependencyMetricProviders: Provider[] = [
  metricProvider('switchyard_dependency_up', {
    inject: [DependencyMonitor],
    collect: readUp,
  }),
  metricProvider('switchyard_dependency_probe_age_seconds', {
    inject: [DependencyMonitor],
    collect: readAge,
  }),
];
