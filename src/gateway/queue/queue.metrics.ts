import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Histogram } from 'prom-client';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

/** Engine calls with unanswered members; far more than a gateway has in flight. */
const REMEMBERED = 4096;

/**
 * Finds the first answer of each engine call, so that `scheduler_batch_size` counts calls
 * instead of requests.
 *
 * A call is forgotten when its last member answered. Members that were cancelled never
 * answer: the oldest calls are dropped beyond `REMEMBERED`, so a missing answer costs one
 * entry for a while and memory stays bounded.
 */
export class CountedCalls {
  readonly #awaited = new Map<string, number>();

  /**
   * True for the first member seen of `batchId`; `size` is the call's number of members.
   */
  firstOf(batchId: string, size: number): boolean {
    const awaited = this.#awaited.get(batchId);
    const left = (awaited ?? size) - 1;
    if (left > 0) this.#awaited.set(batchId, left);
    else this.#awaited.delete(batchId);
    if (this.#awaited.size > REMEMBERED) this.#forgetOldest();
    return awaited === undefined;
  }

  get size(): number {
    return this.#awaited.size;
  }

  #forgetOldest(): void {
    const oldest = this.#awaited.keys().next();
    if (!oldest.done) this.#awaited.delete(oldest.value);
  }
}

export const queueMetricProviders: Provider[] = [
  metricProvider('scheduler_queue_wait_seconds'),
  metricProvider('scheduler_batch_size'),
  metricProvider('scheduler_aging_promotions_total'),
];

/** What the queue did, from dispatch events: waits, group sizes, promotions. */
@Injectable()
export class QueueMetrics {
  readonly #calls = new CountedCalls();

  constructor(
    events: DispatchEventBus,
    @InjectMetric('scheduler_queue_wait_seconds') private readonly waits: Histogram,
    @InjectMetric('scheduler_batch_size') private readonly sizes: Histogram,
    @InjectMetric('scheduler_aging_promotions_total')
    private readonly promotions: Counter,
  ) {
    // A second lease follows a worker's death: its wait is not one that the queue caused.
    events.on('leased', ({ model, priority, attempt, queueWaitMs }) => {
      if (attempt === 1) this.waits.observe({ priority, model }, queueWaitMs / 1000);
    });
    events.on('promoted', ({ model }) => this.promotions.inc({ model }));
    // Once per engine call. An answer without a call id is counted per request.
    events.on('settled', ({ model, batchSize = 0, batchId }) => {
      if (batchSize < 1) return;
      if (!batchId || this.#calls.firstOf(batchId, batchSize))
        this.sizes.observe({ model }, batchSize);
    });
  }
}
