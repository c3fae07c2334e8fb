import { Injectable, type OnApplicationShutdown, type OnModuleInit, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { type Subscription } from 'rxjs';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import { LimitEvents } from './limit-events.js';

export const limitMetricProviders: Provider[] = [
  metricProvider('switchyard_limit_refusals_total'),
  metricProvider('switchyard_limit_store_failures_total'),
];

@Injectable()
export class LimitMetrics implements OnModuleInit, OnApplicationShutdown {
  #events: Subscription | undefined;

  constructor(
    private readonly told: LimitEvents,
    @InjectMetric('switchyard_limit_refusals_total') private readonly refusals: Counter,
    @InjectMetric('switchyard_limit_store_failures_total') private readonly failures: Counter,
  ) {}

  onModuleInit(): void {
    this.#events = this.told.events$.subscribe(event => {
      if (event.type === 'refused') this.refusals.inc({ limit: snakeCase(event.limit) });
      else this.failures.inc();
    });
  }

  onApplicationShutdown(): void {
    this.#events?.unsubscribe();
  }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
