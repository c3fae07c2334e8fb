import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { Settings } from '../../platform/config/settings.js';
import { eventMetric, metricProvider } from '../../platform/metrics/metric-provider.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { Forecasts } from './forecasts.js';
import { RequestQueues } from './request-queues.js';

/** Engine calls with unanswered members; far more than a gateway has in flight. */
const REMEMBERED = 4096;

/**
 * True for the first answer of each engine call, so that `scheduler_batch_size` counts calls
 * instead of requests.
 *
 * A call is forgotten when its last member answered. Members that were cancelled never
 * answer: the oldest calls are dropped beyond `REMEMBERED`, so a missing answer costs one
 * entry for a while and memory stays bounded.
 * @param awaited answers that calls still miss, by their id; only this function changes it
 * @param size members of the call
 */
export function isFirstOf(awaited: Map<string, number>, batchId: string, size: number): boolean {
  const known = awaited.get(batchId);
  const left = (known ?? size) - 1;
  if (left > 0) awaited.set(batchId, left);
  else awaited.delete(batchId);
  const [oldest] = awaited.keys();
  if (awaited.size > REMEMBERED && oldest !== undefined) awaited.delete(oldest);
  return known === undefined;
}

async function readDepth(gauge: Gauge, queues: RequestQueues): Promise<void> {
  for (const { model, realtime, batch } of await queues.depths()) {
    gauge.set({ priority: 'realtime', model }, realtime);
    gauge.set({ priority: 'batch', model }, batch);
  }
}

/** What waits is forecast; of what workers pull the rate is known. */
async function readReplicasWanted(
  gauge: Gauge,
  queues: RequestQueues,
  forecasts: Forecasts,
  workers: AllWorkers,
  { queue: { targetWaitMs } }: Settings,
): Promise<void> {
  for (const { model, realtime, batch } of await queues.depths()) {
    const wanted = workers.hasPulling(model)
      ? forecasts.pullingWanted(
          { model, waiting: realtime + batch },
          workers.workers(),
          targetWaitMs,
        )
      : forecasts.replicasWanted(model, targetWaitMs);
    if (wanted !== undefined) gauge.set({ model }, wanted);
  }
}

function readBytes(gauge: Gauge, queues: RequestQueues): void {
  for (const [model, bytes] of queues.waitingBytes()) gauge.set({ model }, bytes);
}

/** What waits, read at the scrape; and what the queue did, from dispatch events: waits, group sizes, promotions. */
export const queueMetricProviders: Provider[] = [
  metricProvider('scheduler_queue_depth', {
    inject: [RequestQueues],
    collect: readDepth,
  }),
  metricProvider('switchyard_replicas_wanted', {
    inject: [RequestQueues, Forecasts, AllWorkers, Settings],
    collect: readReplicasWanted,
  }),
  metricProvider('switchyard_queue_bytes', {
    inject: [RequestQueues],
    collect: readBytes,
  }),
  eventMetric('scheduler_queue_wait_seconds', (waits: Histogram, bus) =>
    // A second lease follows a worker's death: its wait is not one that the queue
    // caused.
    bus.on('leased', ({ model, priority, attempt, queueWaitMs }) => {
      if (attempt === 1) waits.observe({ priority, model }, queueWaitMs / 1000);
    }),
  ),
  eventMetric('scheduler_batch_size', (sizes: Histogram, bus) => {
    const awaited = new Map<string, number>();
    // Once per engine call. An answer without a call id is counted per request.
    bus.on('settled', ({ model, batchSize = 0, batchId }) => {
      if (batchSize < 1) return;
      if (!batchId || isFirstOf(awaited, batchId, batchSize)) sizes.observe({ model }, batchSize);
    });
  }),
  eventMetric('scheduler_aging_promotions_total', (promotions: Counter, bus) =>
    bus.on('promoted', ({ model }) => promotions.inc({ model })),
  ),
];
