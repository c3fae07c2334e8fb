import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter, type Gauge } from 'prom-client';
import { type Subscription } from 'rxjs';
import { type GenerationActivity } from '../../contracts/grpc/health.codec.js';
import { type GaugeReader, metricProvider } from '../../platform/metrics/metric-provider.js';
import { WorkerPoolService } from './worker-pool.service.js';

/** What workers that batch by steps last reported, at most a probe (`workers.health_interval_ms`) old. */
const lastReported = (read: (activity: GenerationActivity) => number): GaugeReader<[WorkerPoolService]> => ({
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
