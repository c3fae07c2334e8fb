import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { Subject, type Subscription } from 'rxjs';
import { type LimitName } from '../../core/limits/limit-rules.js';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

type RefusingLimit = LimitName | 'intake';

type LimitEvent = { readonly type: 'refused'; readonly limit: RefusingLimit } | { readonly type: 'store_failed' };

/**
 * Rejections and store failures, for metrics. While the shared store is away, one log line is written every ten
 * seconds.
 */
@Injectable()
export class LimitEvents {
  readonly #logger = new Logger('Limits');
  readonly #events = new Subject<LimitEvent>();
  readonly events$ = this.#events.asObservable();
  #loggedAtMs = -Infinity;

  refused(limit: RefusingLimit): void {
    this.#events.next({ type: 'refused', limit });
  }

  storeFailed({ message }: Error): void {
    this.#events.next({ type: 'store_failed' });
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < QUIET_MS) return;
    this.#loggedAtMs = nowMs;
    this.#logger.warn({ reason: message }, 'limits are counted by this gateway alone: Redis does not answer');
  }
}

/** At most one log line in this time, instead of one per request. */
const QUIET_MS = 10_000;

export const limitMetricProviders: Provider[] = [
  metricProvider('switchyard_limit_refusals_total'),
  metricProvider('switchyard_limit_store_failures_total'),
];

@Injectable()
export class LimitMetrics implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(
    private readonly events: LimitEvents,
    @InjectMetric('switchyard_limit_refusals_total') private readonly refusals: Counter,
    @InjectMetric('switchyard_limit_store_failures_total') private readonly failures: Counter,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.events.events$.subscribe(event => {
      if (event.type === 'refused') this.refusals.inc({ limit: snakeCase(event.limit) });
      else this.failures.inc();
    });
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
