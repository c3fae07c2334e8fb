import { type Provider } from '@nestjs/common';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { type GenerationActivity } from '../../contracts/grpc/health.codec.js';
import {
  fedMetric,
  type GaugeReader,
  metricProvider,
} from '../../platform/metrics/metric-provider.js';
import { type MetricName } from '../../platform/metrics/registry.js';
import { type GenerationCounts } from './generation-counts.js';
import { WorkerPoolService } from './worker-pool.service.js';
import { type WorkerView } from './worker-view.js';

/** One that is fed by what workers of the pool do. */
const poolMetric = <M extends Counter | Histogram>(
  name: MetricName,
  feed: (metric: M, pool: WorkerPoolService) => void,
): Provider => fedMetric(name, [WorkerPoolService], feed);

/**
 * What workers that batch by steps last reported, at most a probe
 * (`workers.health_interval_ms`) old.
 */
const lastReported = (
  read: (activity: GenerationActivity) => number,
): GaugeReader<[WorkerPoolService]> => ({
  inject: [WorkerPoolService],
  collect: (gauge: Gauge, pool) => {
    for (const { id, model, health } of pool.workers())
      if (health?.generation) gauge.set({ worker: id, model }, read(health.generation));
  },
});

/** What continuous batching did since the last report, added up. */
const generationMetric = (
  name: MetricName,
  add: (
    counter: Counter,
    labels: Readonly<Record<'worker' | 'model', string>>,
    counts: GenerationCounts,
  ) => void,
): Provider =>
  poolMetric(name, (counter: Counter, pool) =>
    pool.activity$.subscribe(activity => {
      if (activity.type !== 'generated') return;
      const { worker, model, counts } = activity;
      add(counter, { worker, model }, counts);
    }),
  );

export const generationActivityMetricProviders: Provider[] = [
  metricProvider(
    'llm_sequences_running',
    lastReported(({ running }) => running),
  ),
  metricProvider(
    'llm_sequences_waiting',
    lastReported(({ waiting }) => waiting),
  ),
  metricProvider(
    'llm_kv_blocks',
    lastReported(({ blocks }) => blocks),
  ),
  metricProvider(
    'llm_kv_blocks_free',
    lastReported(({ freeBlocks }) => freeBlocks),
  ),
  metricProvider(
    'llm_step_tokens',
    lastReported(({ stepTokens }) => stepTokens),
  ),
  generationMetric('llm_steps_total', (steps, labels, counts) =>
    steps.inc(labels, counts.steps),
  ),
  generationMetric('llm_decode_calls_total', (calls, labels, counts) =>
    calls.inc(labels, counts.decodeCalls),
  ),
  generationMetric('llm_preemptions_total', (preemptions, labels, counts) =>
    preemptions.inc(labels, counts.preemptions),
  ),
  generationMetric('llm_prefix_tokens_total', (tokens, labels, counts) => {
    tokens.inc({ ...labels, result: 'hit' }, counts.prefixHitTokens);
    tokens.inc({ ...labels, result: 'stranded' }, counts.strandedTokens);
  }),
  generationMetric('llm_backend_losses_total', (losses, labels, counts) =>
    losses.inc(labels, counts.losses),
  ),
];

/** One value per configured worker, read at the scrape. */
const perWorker = (
  read: (worker: WorkerView) => number,
): GaugeReader<[WorkerPoolService]> => ({
  inject: [WorkerPoolService],
  collect: (gauge: Gauge, pool) => {
    for (const worker of pool.workers())
      gauge.set({ worker: worker.id, model: worker.model }, read(worker));
  },
});

/** One phase of each answer, as its worker reports it, in seconds. */
const phaseMetric = (
  name: MetricName,
  phase: 'prepMs' | 'readyWaitMs' | 'deviceMs',
): Provider =>
  poolMetric(name, (phases: Histogram, pool) =>
    pool.activity$.subscribe(activity => {
      if (activity.type === 'executed')
        phases.observe({ model: activity.model }, activity.execution[phase] / 1000);
    }),
  );

export const workerPoolMetricProviders: Provider[] = [
  metricProvider(
    'switchyard_worker_up',
    perWorker(({ state }) => (state === 'ready' || state === 'busy' ? 1 : 0)),
  ),
  metricProvider(
    'switchyard_worker_slots',
    perWorker(({ slots }) => slots.total),
  ),
  metricProvider(
    'switchyard_worker_slots_in_use',
    perWorker(({ slots }) => slots.inUse),
  ),
  poolMetric('switchyard_worker_restarts_total', (restarts: Counter, pool) => {
    // A counter exists from the start: an alert on its increase would miss the
    // first restart otherwise.
    for (const { id, model } of pool.workers()) restarts.inc({ worker: id, model }, 0);
    pool.activity$.subscribe(activity => {
      if (activity.type === 'restarted')
        restarts.inc({ worker: activity.worker, model: activity.model });
    });
  }),
  phaseMetric('switchyard_worker_prep_seconds', 'prepMs'),
  phaseMetric('switchyard_worker_ready_wait_seconds', 'readyWaitMs'),
  phaseMetric('switchyard_worker_device_seconds', 'deviceMs'),
];
