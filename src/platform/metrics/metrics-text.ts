import { collectDefaultMetrics, register } from 'prom-client';
import { METRICS } from './registry.js';

export const METRICS_CONTENT_TYPE = register.contentType;

/** Exposition text of the metrics of our table that this process has; none of prom-client's process metrics. */
export async function ownMetricsText(): Promise<string> {
  const names = Object.keys(METRICS).filter(name => register.getSingleMetric(name) !== undefined);
  const texts = await Promise.all(names.map(name => register.getSingleMetricAsString(name)));
  return `${texts.join('\n\n')}\n`;
}

/** The same and the process metrics, which are collected from the first call on. */
export async function allMetricsText(): Promise<string> {
  if (!register.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics();
  return register.metrics();
}
