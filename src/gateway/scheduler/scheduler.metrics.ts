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

/**
 * Counts events by labels, for a scrape that reads them at one instant. prom-client formats
 * live values some microtasks after it took them, so a request that settles in between
 * would be in one metric and not yet in the other. Here values change in `collect` only.
 * A counter never falls: what a scrape has seen is taken back when the next is counted.
 */
function scrapedTotal(counter: Counter, ...names: ('status' | 'priority' | 'model')[]) {
  const totals = new Map<string, { labels: LabelValues<string>; value: number; shown: number }>();
  const collect = (): void => {
    counter.reset();
    for (const total of totals.values()) {
      total.shown = Math.max(total.shown, total.value);
      counter.inc(total.labels, total.shown);
    }
  };
  Object.assign(counter, { collect });
  return (event: LabelValues<(typeof names)[number]>, by = 1): void => {
    let key = '';
    for (const name of names) key += ` ${event[name]}`;
    const total = totals.get(key);
    if (total) total.value += by;
    else {
      const labels = Object.fromEntries(names.map(name => [name, event[name]]));
      totals.set(key, { labels, value: by, shown: 0 });
    }
  };
}

/** Shorter pauses are not heard, and any engine call may be that late. */
const AUDIBLE_S = 0.02;

/**
 * Counts of requests. At every scrape accepted = waiting + running + settled, exactly (but
 * for one that a scrape saw as completed and that was withdrawn, until the next completes):
 * events are emitted in the same turn as the change of state, and the gauges are read
 * from the owners of that state.
 */
export const schedulerMetricProviders: Provider[] = [
  eventMetric('scheduler_requests_total', (counter: Counter, bus) => {
    const count = scrapedTotal(counter, 'status', 'priority', 'model');
    bus.on('settled', event => count(event));
    bus.on('withdrawn', event => {
      count({ ...event, status: 'completed' }, -1);
      count({ ...event, status: 'cancelled' });
    });
  }),
  eventMetric('switchyard_requests_accepted_total', (counter: Counter, bus) =>
    bus.on('accepted', scrapedTotal(counter, 'priority', 'model')),
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
  eventMetric('switchyard_speech_stutter_total', (stutter: Counter, bus) =>
    bus.on('settled', ({ lateS = 0, model }) => {
      if (lateS >= AUDIBLE_S) stutter.inc({ model });
    }),
  ),
  metricProvider('switchyard_requests_running', {
    inject: [RequestRegistry, MODELS],
    collect: readRunning,
  }),
];
