import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type LabelValues } from 'prom-client';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { eventMetric, metricProvider } from '../../platform/metrics/metric-provider.js';
import { RequestRegistry } from '../registry/request-registry.js';

function readRunning(gauge: Gauge, registry: RequestRegistry, models: readonly ModelSpec[]): void {
  for (const { id: model } of models) {
    gauge.set({ priority: 'realtime', model }, 0);
    gauge.set({ priority: 'batch', model }, 0);
  }
  for (const { state, model, priority } of registry.live()) {
    if (state === 'leased') gauge.inc({ priority, model });
  }
}

interface Total {
  readonly labels: LabelValues<string>;
  value: number;
  /** As it was at the last scrape. */
  scraped: number;
}

/**
 * Counts events by labels, for a scrape that reads them at one instant. prom-client formats
 * live values some microtasks after it took them, so a request that settles in between
 * would be in one metric and not yet in the other. Here values change in `collect` only.
 */
function scrapedTotal<N extends 'status' | 'priority' | 'model'>(counter: Counter, ...names: N[]) {
  const totals = new Map<string, Total>();
  let moves: { readonly from: Total; readonly to: Total }[] = [];
  const totalOf = (event: LabelValues<N>): Total => {
    let key = '';
    for (const name of names) key += ` ${event[name]}`;
    let total = totals.get(key);
    if (!total) {
      const labels = Object.fromEntries(names.map(name => [name, event[name]]));
      totals.set(key, (total = { labels, value: 0, scraped: 0 }));
    }
    return total;
  };
  const collect = (): void => {
    // A counter never falls: what was scraped already moves with the next that is counted.
    moves = moves.filter(({ from, to }) => {
      if (from.value === from.scraped) return true;
      from.value -= 1;
      to.value += 1;
      return false;
    });
    counter.reset();
    for (const total of totals.values()) {
      counter.inc(total.labels, total.value);
      total.scraped = total.value;
    }
  };
  Object.assign(counter, { collect });
  return {
    count: (event: LabelValues<N>): void => void (totalOf(event).value += 1),
    /** What was counted as `from` turned out to be `to`. */
    move: (from: LabelValues<N>, to: LabelValues<N>): void =>
      void moves.push({ from: totalOf(from), to: totalOf(to) }),
  };
}

/**
 * Counts of requests. At every scrape accepted = waiting + running + settled, exactly:
 * events are emitted in the same turn as the change of state, and the gauges are read
 * from the owners of that state.
 */
export const schedulerMetricProviders: Provider[] = [
  eventMetric('scheduler_requests_total', (counter: Counter, bus) => {
    const total = scrapedTotal(counter, 'status', 'priority', 'model');
    bus.on('settled', total.count);
    bus.on('withdrawn', ({ priority, model }) =>
      total.move(
        { status: 'completed', priority, model },
        { status: 'cancelled', priority, model },
      ),
    );
  }),
  eventMetric('switchyard_requests_accepted_total', (counter: Counter, bus) =>
    bus.on('accepted', scrapedTotal(counter, 'priority', 'model').count),
  ),
  eventMetric('switchyard_requests_rejected_total', (rejected: Counter, bus) =>
    bus.on('rejected', ({ code, model }) => rejected.inc({ code, model })),
  ),
  eventMetric('switchyard_requests_retried_total', (retried: Counter, bus) =>
    bus.on('requeued', ({ code, model }) => {
      if (code === 'worker_lost') retried.inc({ model });
    }),
  ),
  eventMetric('switchyard_deadlines_total', (deadlines: Counter, bus) => {
    bus.on('rejected', ({ code, model }) => {
      if (code === 'deadline_unreachable') deadlines.inc({ outcome: 'refused', model });
    });
    bus.on('settled', ({ metDeadline, code, model }) => {
      if (metDeadline !== undefined)
        deadlines.inc({ outcome: metDeadline ? 'met' : 'late', model });
      else if (code === 'deadline_missed') deadlines.inc({ outcome: 'missed', model });
    });
  }),
  metricProvider('switchyard_requests_running', {
    inject: [RequestRegistry, MODELS],
    collect: readRunning,
  }),
];
