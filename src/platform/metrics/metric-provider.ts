import { setTimeout as sleep } from 'node:timers/promises';
import {
  type InjectionToken,
  type Provider,
  type DynamicModule,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { getToken, PrometheusModule } from '@willsoto/nestjs-prometheus';
import { Counter, Gauge, Histogram, register } from 'prom-client';
import { DispatchEventBus } from '../events/events.module.js';
import { type MetricDefinition } from './metric-definition.js';
import { type MetricName, METRICS } from './registry.js';

/**
 * A scrape waits for no source longer than this: a database or Redis that hangs costs its
 * own gauges only.
 */
const READ_MS = 500;

/** Each application makes its own metric, in place of one of a closed application. */
function optionsOf(name: MetricName) {
  register.removeSingleMetric(name);
  const { help, labels } = METRICS[name];
  return { name, help, labelNames: [...labels] };
}

const readerError = (name: MetricName) =>
  new Error(`${name}: gauges, and only gauges, are given a reader`);

function countingMetric(name: MetricName): Counter | Histogram {
  const { type, buckets }: MetricDefinition = METRICS[name];
  if (type === 'gauge') throw readerError(name);
  return buckets
    ? new Histogram({ ...optionsOf(name), buckets: [...buckets] })
    : new Counter(optionsOf(name));
}

/** A counter of the table, for the one service that counts with it. */
export const counterMetric = (name: MetricName): Counter => countingMetric(name) as Counter;

/** A histogram of the table, for the one service that observes with it. */
export const histogramMetric = (name: MetricName): Histogram => countingMetric(name) as Histogram;

/**
 * Nest provider of a gauge of the table, which is read at every scrape from its source,
 * never counted up and down (D-10).
 */
export function metricProvider<A extends unknown[]>(
  name: MetricName,
  reader: {
    readonly inject: readonly InjectionToken[];
    /** The gauge comes empty; set one value per label combination that exists now. */
    collect(gauge: Gauge, ...sources: A): void | Promise<void>;
  },
): Provider {
  if (METRICS[name].type !== 'gauge') throw readerError(name);
  const useFactory = (...sources: A) =>
    new Gauge({
      ...optionsOf(name),
      collect() {
        this.reset();
        // A source that does not answer has no value now; the scrape has
        // all the others.
        return Promise.race([
          Promise.resolve(reader.collect(this, ...sources)),
          sleep(READ_MS, undefined, { ref: false }),
        ]).catch(() => undefined);
      },
    });
  return { provide: getToken(name), inject: [...reader.inject], useFactory };
}

/**
 * Makes providers of counters and histograms that count what `feed` subscribes to of one service.
 * Nobody has to ask for them; what they subscribed to ends with its source.
 */
export const metricFedBy =
  <S>(source: Type<S>) =>
  <M extends Counter | Histogram>(
    name: MetricName,
    feed: (metric: M, source: S) => void,
  ): Provider => ({
    provide: getToken(name),
    inject: [source],
    useFactory: (service: S) => {
      const metric = countingMetric(name) as M;
      feed(metric, service);
      return metric;
    },
  });

/** One that is fed by the dispatch events. */
export const eventMetric = metricFedBy(DispatchEventBus);

/**
 * The table in `registry.ts`, answered by the controller. Imported once, by the root
 * module. prom-client's metrics of the process begin with the first scrape
 * (`allMetricsText`): their clock wakes an idle process 100 times a second.
 * @param imports what the controller needs
 */
export const metricsModule = (
  controller: Type,
  imports: NonNullable<ModuleMetadata['imports']>,
): DynamicModule =>
  PrometheusModule.registerAsync({
    useFactory: () => ({ defaultMetrics: { enabled: false } }),
    controller,
    imports,
  });
