import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Histogram } from 'prom-client';
import { type Subscription } from 'rxjs';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { CountedCalls } from './counted-calls.js';

export const queueMetricProviders: Provider[] = [
  metricProvider('scheduler_queue_wait_seconds'),
  metricProvider('scheduler_batch_size'),
  metricProvider('scheduler_aging_promotions_total'),
];

/** What the queue did, from dispatch events: waits, group sizes, promotions. */
@Injectable()
export class QueueMetrics implements OnModuleInit, OnApplicationShutdown {
  readonly #calls = new CountedCalls();
  #subscription: Subscription | undefined;

  constructor(
    private readonly events: DispatchEventBus,
    @InjectMetric('scheduler_queue_wait_seconds') private readonly waits: Histogram,
    @InjectMetric('scheduler_batch_size') private readonly sizes: Histogram,
    @InjectMetric('scheduler_aging_promotions_total') private readonly promotions: Counter,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.events.events$.subscribe(event => this.#observe(event));
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }

  #observe(event: DispatchEvent): void {
    const { model, priority } = event;
    // A second lease follows a worker's death: its wait is not one that the queue caused.
    if (event.type === 'leased' && event.attempt === 1) {
      this.waits.observe({ priority, model }, event.queueWaitMs / 1000);
    } else if (event.type === 'promoted') {
      this.promotions.inc({ model });
    } else if (event.type === 'settled') {
      this.#observeSize(model, event.batchSize, event.batchId);
    }
  }

  /** Once per engine call. A worker that names no call is counted per request: better seen too often than never. */
  #observeSize(model: string, size: number | undefined, batchId: string | undefined): void {
    if (size === undefined || size < 1) return;
    if (!batchId || this.#calls.firstOf(batchId, size)) this.sizes.observe({ model }, size);
  }
}
