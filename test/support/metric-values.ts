import { register } from 'prom-client';

interface MetricValue {
  readonly metricName?: string;
  readonly labels: object;
  readonly value: number;
}

/**
 * Values of a metric of this process by its labels, in the order of the registry; of a
 * histogram its sum and count.
 */
export async function metricValues(name: string): Promise<Record<string, number>> {
  const found = (await register.getSingleMetric(name)!.get()).values as MetricValue[];
  const read = found.filter(({ metricName }) => !metricName?.endsWith('_bucket'));
  return Object.fromEntries(
    read.map(({ metricName = '', labels, value }) => [
      [...Object.values(labels), ...(/_(sum|count)$/.exec(metricName)?.slice(1) ?? [])].join(' '),
      value,
    ]),
  );
}
