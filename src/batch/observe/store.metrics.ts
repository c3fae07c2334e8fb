import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

/** Counts what the processor asks of the blob store, finds at its start, and sends as webhooks. */
@Injectable()
export class StoreMetrics {
  constructor(
    @InjectMetric('file_storage_operations_total') private readonly operations: Counter,
    @InjectMetric('batch_startup_recovery_total') private readonly recoveries: Counter,
    @InjectMetric('batch_webhooks_total') private readonly webhooks: Counter,
  ) {}

  stored(operation: 'store' | 'retrieve' | 'delete', status: 'success' | 'retry' | 'exhausted'): void {
    this.operations.inc({ operation, component: 'processor', status });
  }

  recovered(status: string, action: string): void {
    this.recoveries.inc({ status, action });
  }

  webhook(outcome: 'sent' | 'retry' | 'given_up'): void {
    this.webhooks.inc({ outcome });
  }
}

export const STORE_METRICS: Provider[] = [
  StoreMetrics,
  metricProvider('file_storage_operations_total'),
  metricProvider('batch_startup_recovery_total'),
  metricProvider('batch_webhooks_total'),
];
