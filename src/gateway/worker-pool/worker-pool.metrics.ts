import { type Provider } from '@nestjs/common';
import { type GenerationActivity } from '@switchyard/worker-protocol/health.codec.js';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { metricFedBy, metricProvider } from '../../platform/metrics/metric-provider.js';
import { type MetricName } from '../../platform/metrics/registry.js';
import { type GenerationCounts } from '../../worker-client/generation-counts.js';
import { WorkerPoolService } from './worker-pool.service.js';
import { isReady, type ModelView, type WorkerView } from './worker-view.js';

/** A metric that counts events of the pool's workers. */
const poolMetric = metricFedBy(WorkerPoolService);

/** One value per configured worker, read at the scrape; undefined: it has none. */
const workerMetric = (
  name: MetricName,
  read: (worker: WorkerView, model: ModelView) => number | undefined,
): Provider =>
  metricProvider(name, {
    inject: [WorkerPoolService],
    collect: (gauge: Gauge, pool: WorkerPoolService) => {
      for (const model of pool.models())
        for (const worker of model.workers) {
          const value = read(worker, model);
          if (value !== undefined) gauge.set({ worker: worker.id, model: model.id }, value);
        }
    },
  });

/**
 * What workers that batch by steps last reported, at most a probe
 * (`workers.health_interval_ms`) old.
 */
const reportedMetric = (
  name: MetricName,
  field: Exclude<keyof GenerationActivity, keyof GenerationCounts>,
): Provider => workerMetric(name, ({ health }) => health?.generation?.[field]);

/** What continuous batching did since the last report, added up. */
const generationMetric = (
  name: MetricName,
  ...parts: readonly {
    readonly field: keyof GenerationCounts;
    readonly labels?: Readonly<Record<string, string>>;
  }[]
): Provider =>
  poolMetric(name, (counter: Counter, pool) =>
    pool.activity$.subscribe(activity => {
      if (activity.type !== 'generated') return;
      const { worker, model, counts } = activity;
      for (const { field, labels } of parts)
        counter.inc({ worker, model, ...labels }, counts[field]);
    }),
  );

/** One phase of each answer, as its worker reports it, in seconds. */
const phaseMetric = (name: MetricName, phase: 'prepMs' | 'readyWaitMs' | 'deviceMs'): Provider =>
  poolMetric(name, (phases: Histogram, pool) =>
    pool.executed$.subscribe(({ model, execution }) =>
      phases.observe({ model }, execution[phase] / 1000),
    ),
  );

/**
 * Whether it is intended that no worker is up: the model is leaving, or the next request loads
 * it.
 */
const isAbsent = ({ state, startsOnRequest }: ModelView): boolean =>
  startsOnRequest && (state === 'unloaded' || state === 'unloading');

export const workerPoolMetricProviders: Provider[] = [
  workerMetric('switchyard_worker_up', (worker, model) =>
    isAbsent(model) ? undefined : Number(isReady(worker)),
  ),
  workerMetric('switchyard_worker_slots', ({ slots }) => slots.total),
  workerMetric('switchyard_worker_slots_in_use', ({ slots }) => slots.inUse),
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
  reportedMetric('llm_sequences_running', 'running'),
  reportedMetric('llm_sequences_waiting', 'waiting'),
  reportedMetric('llm_kv_blocks', 'blocks'),
  reportedMetric('llm_kv_blocks_free', 'freeBlocks'),
  reportedMetric('llm_step_tokens', 'stepTokens'),
  generationMetric('llm_steps_total', { field: 'steps' }),
  generationMetric('llm_decode_calls_total', { field: 'decodeCalls' }),
  generationMetric('llm_preemptions_total', { field: 'preemptions' }),
  generationMetric(
    'llm_prefix_tokens_total',
    { field: 'prefixHitTokens', labels: { result: 'hit' } },
    { field: 'strandedTokens', labels: { result: 'stranded' } },
  ),
  generationMetric('llm_backend_losses_total', { field: 'losses' }),
];
