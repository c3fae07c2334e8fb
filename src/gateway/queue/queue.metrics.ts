import { type Provider } from '@nestjs/common';
import { type Counter, type Histogram } from 'prom-client';
import { eventMetric } from '../../platform/metrics/metric-provider.js';

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
    if (this.#awaited.size > REMEMBERED) {
      const [oldest] = this.#awaited.keys();
      if (oldest !== undefined) this.#awaited.delete(oldest);
    }
    return awaited === undefined;
  }

  get size(): number {
    return this.#awaited.size;
  }
}

/** What the queue did, from dispatch events: waits, group sizes, promotions. */
export const queueMetricProviders: Provider[] = [
  eventMetric('scheduler_queue_wait_seconds', (waits: Histogram, bus) =>
    // A second lease follows a worker's death: its wait is not one that the queue
    // caused.
    bus.on('leased', ({ model, priority, attempt, queueWaitMs }) => {
      if (attempt === 1) waits.observe({ priority, model }, queueWaitMs / 1000);
    }),
  ),
  eventMetric('scheduler_batch_size', (sizes: Histogram, bus) => {
    const calls = new CountedCalls();
    // Once per engine call. An answer without a call id is counted per request.
    bus.on('settled', ({ model, batchSize = 0, batchId }) => {
      if (batchSize < 1) return;
      if (!batchId || calls.firstOf(batchId, batchSize))
        sizes.observe({ model }, batchSize);
    });
  }),
  eventMetric('scheduler_aging_promotions_total', (promotions: Counter, bus) =>
    bus.on('promoted', ({ model }) => promotions.inc({ model })),
  ),
];
