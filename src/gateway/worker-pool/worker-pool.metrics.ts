import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge, type Histogram } from 'prom-client';
import { type Subscription } from 'rxjs';
import { type GenerationActivity } from '../../contracts/grpc/health.codec.js';
import {
  type GaugeReader,
  metricProvider,
} from '../../platform/metrics/metric-provider.js';
import { WorkerPoolService } from './worker-pool.service.js';
import { type WorkerView } from './worker-view.js';

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
  metricProvider('llm_steps_total'),
  metricProvider('llm_decode_calls_total'),
  metricProvider('llm_preemptions_total'),
  metricProvider('llm_prefix_tokens_total'),
  metricProvider('llm_backend_losses_total'),
];

/** What continuous batching did, added up from the workers' reports. */
@Injectable()
export class GenerationActivityMetrics implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(
    private readonly pool: WorkerPoolService,
    @InjectMetric('llm_steps_total') private readonly steps: Counter,
    @InjectMetric('llm_decode_calls_total') private readonly decodeCalls: Counter,
    @InjectMetric('llm_preemptions_total') private readonly preemptions: Counter,
    @InjectMetric('llm_prefix_tokens_total') private readonly prefixTokens: Counter,
    @InjectMetric('llm_backend_losses_total') private readonly losses: Counter,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.pool.activity$.subscribe(activity => {
      if (activity.type !== 'generated') return;
      const { worker, model, counts } = activity;
      const labels = { worker, model };
      this.steps.inc(labels, counts.steps);
      this.decodeCalls.inc(labels, counts.decodeCalls);
      this.preemptions.inc(labels, counts.preemptions);
      this.prefixTokens.inc({ ...labels, result: 'hit' }, counts.prefixHitTokens);
      this.prefixTokens.inc({ ...labels, result: 'stranded' }, counts.strandedTokens);
      this.losses.inc(labels, counts.losses);
    });
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }
}

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
  metricProvider('switchyard_worker_restarts_total'),
  metricProvider('switchyard_worker_prep_seconds'),
  metricProvider('switchyard_worker_ready_wait_seconds'),
  metricProvider('switchyard_worker_device_seconds'),
];

/** What workers did, as they report it with each answer. */
@Injectable()
export class WorkerPoolMetrics implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(
    private readonly pool: WorkerPoolService,
    @InjectMetric('switchyard_worker_restarts_total') private readonly restarts: Counter,
    @InjectMetric('switchyard_worker_prep_seconds') private readonly prep: Histogram,
    @InjectMetric('switchyard_worker_ready_wait_seconds')
    private readonly readyWait: Histogram,
    @InjectMetric('switchyard_worker_device_seconds') private readonly device: Histogram,
  ) {}

  onModuleInit(): void {
    // A counter exists from the start: an alert on its increase would miss the
    // first restart otherwise.
    for (const { id, model } of this.pool.workers())
      this.restarts.inc({ worker: id, model }, 0);
    this.#subscription = this.pool.activity$.subscribe(activity => {
      const { model } = activity;
      if (activity.type === 'restarted')
        return this.restarts.inc({ worker: activity.worker, model });
      if (activity.type !== 'executed') return;
      const { prepMs, readyWaitMs, deviceMs } = activity.execution;
      this.prep.observe({ model }, prepMs / 1000);
      this.readyWait.observe({ model }, readyWaitMs / 1000);
      this.device.observe({ model }, deviceMs / 1000);
    });
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }
}
