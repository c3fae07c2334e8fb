import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge } from 'prom-client';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
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
    events.events$.subscribe(event => this.#count(event));
  }

  #count(event: DispatchEvent): void {
    const { model, priority } = event;
    if (event.type === 'accepted') this.#accepted.add({ priority, model });
    else if (event.type === 'settled')
      this.#settled.add({ status: event.status, priority, model });
    else if (event.type === 'rejected') this.rejected.inc({ code: event.code, model });
    else if (event.type === 'requeued' && event.code === 'worker_lost')
      this.retried.inc({ model });
    const outcome = deadlineOutcome(event);
    if (outcome !== undefined) this.deadlines.inc({ outcome, model });
  }
}

/** Undefined: the request had no deadline, or ended for another reason. */
function deadlineOutcome(
  event: DispatchEvent,
): 'met' | 'late' | 'missed' | 'refused' | undefined {
  if (event.type === 'rejected')
    return event.code === 'deadline_unreachable' ? 'refused' : undefined;
  if (event.type !== 'settled') return undefined;
  if (event.metDeadline !== undefined) return event.metDeadline ? 'met' : 'late';
  return event.code === 'deadline_missed' ? 'missed' : undefined;
}
