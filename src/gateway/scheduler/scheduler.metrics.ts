import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge } from 'prom-client';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { RequestRegistry } from './request-registry.js';
import { SchedulerService } from './scheduler.service.js';

function readRunning(
  gauge: Gauge,
  registry: RequestRegistry,
  models: readonly ModelSpec[],
): void {
  for (const { id: model } of models) {
    gauge.set({ priority: 'realtime', model }, 0);
    gauge.set({ priority: 'batch', model }, 0);
  }
  for (const { state, model, priority } of registry.live()) {
    if (state === 'leased') gauge.inc({ priority, model });
  }
}

async function readDepth(gauge: Gauge, scheduler: SchedulerService): Promise<void> {
  for (const { model, realtime, batch } of await scheduler.depths()) {
    gauge.set({ priority: 'realtime', model }, realtime);
    gauge.set({ priority: 'batch', model }, batch);
  }
}

function readBytes(gauge: Gauge, scheduler: SchedulerService): void {
  for (const [model, bytes] of scheduler.waitingBytes()) gauge.set({ model }, bytes);
}

type Labels = Readonly<Record<string, string>>;

/**
 * A counter that a scrape reads at one instant. prom-client formats live values some
 * microtasks after it took them, so a request that settles in between would be in one
 * metric and not yet in the other. Here values change in `collect` only.
 */
class ScrapedTotal {
  readonly #totals = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(counter: Counter) {
    Object.assign(counter, { collect: () => this.#publish(counter) });
  }

  add(labels: Labels): void {
    const key = Object.values(labels).join(' ');
    const total = this.#totals.get(key);
    if (total) total.value += 1;
    else this.#totals.set(key, { labels, value: 1 });
  }

  #publish(counter: Counter): void {
    counter.reset();
    for (const { labels, value } of this.#totals.values()) counter.inc(labels, value);
  }
}

export const schedulerMetricProviders: Provider[] = [
  metricProvider('scheduler_queue_depth', {
    inject: [SchedulerService],
    collect: readDepth,
  }),
  metricProvider('switchyard_queue_bytes', {
    inject: [SchedulerService],
    collect: readBytes,
  }),
  metricProvider('scheduler_requests_total'),
  metricProvider('switchyard_requests_accepted_total'),
  metricProvider('switchyard_requests_rejected_total'),
  metricProvider('switchyard_requests_retried_total'),
  metricProvider('switchyard_deadlines_total'),
  metricProvider('switchyard_requests_running', {
    inject: [RequestRegistry, MODELS],
    collect: readRunning,
  }),
];

/**
 * Counts of requests. At every scrape accepted = waiting + running + settled, exactly:
 * events are emitted in the same turn as the change of state, and the gauges are read
 * from the owners of that state.
 */
@Injectable()
export class SchedulerMetrics {
  readonly #settled: ScrapedTotal;
  readonly #accepted: ScrapedTotal;

  constructor(
    events: DispatchEventBus,
    @InjectMetric('scheduler_requests_total') settled: Counter,
    @InjectMetric('switchyard_requests_accepted_total') accepted: Counter,
    @InjectMetric('switchyard_requests_rejected_total')
    private readonly rejected: Counter,
    @InjectMetric('switchyard_requests_retried_total') private readonly retried: Counter,
    @InjectMetric('switchyard_deadlines_total') private readonly deadlines: Counter,
  ) {
    this.#settled = new ScrapedTotal(settled);
    this.#accepted = new ScrapedTotal(accepted);
    events.on('accepted', ({ priority, model }) =>
      this.#accepted.add({ priority, model }),
    );
    events.on('rejected', ({ code, model }) => {
      this.rejected.inc({ code, model });
      if (code === 'deadline_unreachable')
        this.deadlines.inc({ outcome: 'refused', model });
    });
    events.on('requeued', ({ code, model }) => {
      if (code === 'worker_lost') this.retried.inc({ model });
    });
    events.on('settled', ({ status, priority, model, metDeadline, code }) => {
      this.#settled.add({ status, priority, model });
      if (metDeadline !== undefined)
        this.deadlines.inc({ outcome: metDeadline ? 'met' : 'late', model });
      else if (code === 'deadline_missed')
        this.deadlines.inc({ outcome: 'missed', model });
    });
  }
}
